"""The words that say what somebody wants to do. They break ties; state decides (see `acts`)."""

from __future__ import annotations

import re


def _words(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern)


RESTART = _words(
    r"重新来|重来|从头(?:再)?来|从头开始|重新开始|重新订|重置|全部重来|推倒重来"
    r"|(?<![a-z])(?:start (?:over|again|afresh|from scratch)|restart|begin again|from scratch|reset)(?![a-z])"
)
RESUME = _words(
    r"^(?:继续|接着(?:来|刚才的?)?|继续刚才的?|(?:please )?(?:continue|resume|carry on|go on|where were we))[。.!?~吧]*$"
)
CANCEL = _words(
    r"取消|撤销|作废|不开了|开不了了|不订了|不用订了|不定了|别订了|不想订了|不要订了|不预订了|退掉|退订|删掉|删除"
    r"|(?<![a-z])(?:cancel|call (?:it |that )?off|scrap (?:it|that|this)|abort|delete|drop (?:it|that|my)|withdraw)(?![a-z])"
)
CANCEL_WEAK = _words(
    r"算了|不用了|不要了|不需要了|不必了|没事了|停(?:下|止)?(?:[。!.~]|$)|(?<![a-z])(?:never ?mind|forget (?:it|that|about it)|stop|leave it|don't bother|no longer need)(?![a-z])"
)
MODIFY = _words(
    r"改到|改(?=.{0,12}(?:到|成|为))|挪(?=.{0,12}到)|改成|改为|改在|改期|换(?=个(?!大|小)|一个|一?间|会议室|房间|时间|地方)|改一下|挪到|挪一下|移到|调到|调整|换到|换成|推迟|提前|延后|延长|缩短|往后|往前|延到|加长"
    r"|(?<![a-z])(?:move|moving|reschedule|postpone|push|bring (?:[^,]{0,30} )?forward|extend|shorten|change|shift|prolong|delay|swap(?= rooms?)|make (?:(?:the|my)(?! number)|\ue000))(?![a-z])"
)
LENGTHEN = _words(r"延长|加长|缩短|(?<![a-z])(?:extend|prolong|shorten)(?![a-z])")
PIVOT_EN = _words(r"(?<![a-z])(?:to|until|till|by|for|into)(?![a-z])")
BOOKING_NOUN = _words(
    r"会议(?!室)|(?:的|个|次|场|那|这)会(?!议室|议)|预[订定约](?!一|个|间|下|明|今|后)|日程|(?<![a-z])(?:bookings?|meetings?(?! ?rooms?)|reservations?|appointments?|series)(?![a-z])"
)
MINE = _words(r"我的?|(?<![a-z])(?:my|mine|our)(?![a-z])")
BOOKING_ID = _words(
    r"(?:预[订定约](?:号)?|booking|reservation)\s?(?:#|号|no\.? ?|number )?\s?(?P<id>\d{1,9})(?![\d:])|#\s?(?P<id2>\d{2,9})|(?:取消|cancel)\s(?P<id3>\d{3,9})(?![\d号点:])|取消(?P<id4>\d{3,9})(?![\d号点:])"
)
ASK_FOR_ROOM = _words(
    r"订(?!了|单)|预[订定约](?!了|的|单)|约(?:个|一|间)|找(?:个|一|间|地方)|借(?:个|一|间)|要(?:个|一个|一?间)|来(?:个|一?间)|安排|会议室|开(?:个|一)?会|开会|碰头"
    r"|(?<![a-z])(?:book|reserve|need|want|looking for|find|get|grab|arrange|set up|schedule|organi[sz]e|hold)(?![a-z])"
)
ROOM_TOPIC = _words(
    r"会议|会议室|房间|开会|预[订定约]|订|(?<![a-z])(?:meeting|room|rooms|book|booking|reserve|reservation|conference|seat|seats)(?![a-z])"
)
ANOTHER = _words(
    r"(?:再|另外|还要|另)(?:订|约|预订|帮我订|要)(?:一|个|间|另)|另一个会|(?<![a-z])(?:another (?:room|booking|one|meeting)|also book|book another|a second room)(?![a-z])"
)
CORRECTION = _words(
    r"不对|不是|实际上|其实|事实上|我是说|我的意思是|错了|说错|改|换成|换到|等等|等一下|还是|应该是|更正|(?<![a-z])(?:actually|instead|wait|sorry|change|rather|make (?:it|that)|correction|i meant|oops|no)(?![a-z])"
)
CONFIRM = _words(
    r"确认|确定|没问题|可以的?|好[的呀啊吧嘞]?|行[的吧啊]?|对[的呀啊]?|是的|是|嗯+|就这样|就这么定|就订这个|订吧|预订吧|提交|成交|同意|没错|要的|妥"
    r"|(?<![a-z])(?:yes|yep|yeah|yup|ya|y|sure|okay|okey|ok|k|confirm(?:ed)?|correct|go ahead|book it|reserve it|sounds good|looks good|do it|that's right|that is right|that works|works for me|right|fine|perfect|lgtm|agreed|great|approved?|of course|absolutely|definitely|please do|all good|good)(?![a-z])"
)
CONFIRM_FILLER = _words(
    r"[\s,.!。！~、;:()\"-]+|吧|呀|啊|哦|了|的|呢|谢谢|多谢|感谢|麻烦|请|你|帮我|就|那|(?<![a-z])(?:please|thanks|thank you|thx|book|then|let's|with that|it|that|is|i|the booking|to me|cheers)(?![a-z])"
)
THIS_ONE = _words(
    r"就这个|就它|这个吧|就订这个|就这间|这间|(?<![a-z])(?:this one|that one|take it|that's the one|i'll take it)(?![a-z])"
)
TAKEN_BACK = _words(
    r"^(?:啊|哦|呃|嗯)?(?:不(?:对|是|行|好)?|错了|no|nope|oops|sorry|wait|hang on|hold on)(?![a-z])[,.!\s~啊哦]*"
)
LARGER = _words(
    r"(?:换|要|来|订|有没有|能不能).{0,4}大(?:一)?(?:点|些|号)|^大(?:一)?(?:点|些)的|太小|坐不下"
    r"|(?<![a-z])(?:bigger|larger|roomier)(?![a-z])|too small"
)
SMALLER = _words(
    r"(?:换|要|来|订|有没有|能不能).{0,4}小(?:一)?(?:点|些|号)|^小(?:一)?(?:点|些)的|太大(?:了)?|(?<![a-z])smaller(?![a-z])|too (?:big|large)"
)
ANOTHER_ROOM = _words(
    r"换(?:一)?(?:间|个(?:房间|会议室))|不要这(?:间|个)|(?<![a-z])(?:another|a different) room(?![a-z])"
)
TOGETHER = _words(
    r"分(?:成|开|到)?(?:两|二|2|三|3)(?:间|个(?:房间|会议室))|(?:两|二|2|三|3)(?:间|个)(?:房间|会议室)?(?:也行|也可以|一起|都行)"
    r"|(?<![a-z])(?:split (?:it|us|them|up|over|across|into|between)|(?:over|across|in|into|between) (?:two|2|three|3) rooms|(?:two|2|three|3) rooms (?:are|is|would be) (?:fine|ok|okay))(?![a-z])"
)
ANY_ONE = _words(
    r"随便|都行|都可以|哪个都行|你定|你选|任意一个|(?<![a-z])(?:any(?: of them| one)?|whichever|either|you (?:choose|pick|decide)|doesn't matter|surprise me)(?![a-z])"
)
DECLINE = _words(
    r"^(?:不|不要|不行|不对|不是|不可以|不好|否|不同意|不确认|先不|别|都不要|都不行|都不合适|都不好|没有合适的|先别(?:订|定)?|先不(?:订|定)|等一下|等等|稍等(?:一下)?|再想想|我再想想|换一个|换一批|换别的|还有别的吗|不满意"
    r"|no|nope|nah|n|don't|do not|not (?:that|this|yet|now|really)|wrong|none(?: of (?:these|them|those))?|hold on|wait(?: a (?:moment|second|minute|sec))?|not so fast|let me think|reject|decline|something else|anything else|other options|not ok(?:ay)?)"
    r"[\s,.!。~吧了呀的]*(?:换(?:个|一个|一批|别的)?(?:时间|地方|房间|会议室)?吧?|thanks|thank you|please|谢谢)?[\s.!。]*$"
)
CHECK_IN = _words(
    r"我(?:们)?(?:已经)?(?:到了|到会议室了|来了|到达|[到在]\s?\ue000+\s?了)|签到|^(?:已经)?到了[。.!]*$"
    r"|^(?:i'm|i (?:am|\ue000+)|we're|we are)(?: now)? (?:at|in) (?:room )?\ue000+[.!]*$|(?<![a-z])(?:check(?:ing)? (?:me |us )?in|checked in|(?:i'm|i am|we're|we are|we've|i've) (?:here|arrived|in the room))(?![a-z])"
)
QUESTION = _words(
    r"[?？]|吗|呢|哪|什么|多大|几个|几点|何时|多少|谁|有没有|是否|能不能|可不可以|怎么|为什么|为何|(?<![a-z])(?:what|which|who|whose|when|where|why|how|is there|are there|do i|did i|have i|is|are|can|could|does|any|show|list)(?![a-z])|查|看看|列出"
)
MINE_ASKED = _words(
    r"(?<![帮给])我(?!想|要|们?订个)[^,。?!]{0,10}(?:几点|什么时候|何时)(?:有|开|的)?.{0,2}会(?!议室)|我的?下一?(?:个|场|次)会(?!议室)"
    r"|(?<![帮给])我(?!想|要|们?订个)[^,。?!]{0,10}(?:订了|预[订定约]了|约了|有)(?:哪些|什么|几个|多少|哪几|没有|.{0,4}(?:会|预[订定约]|会议)吗?)"
    r"|我的(?:所有|全部|今天|明天|本周|这周|下周)?的?(?:预[订定约]|会议(?!室要)|日程|安排)|(?:查|看)(?:一?下|看)?我的"
    r"|(?<![订预])有(?:什么|啥|哪些|几个)(?:会(?!议室)|安排|日程|预[订定约])"
    r"|(?<![a-z])what (?:do|have) i (?:have|got|booked)(?![a-z])|(?<![a-z])(?:do|have) i (?:have|got) (?:any|some)thing(?![a-z])|(?<![a-z])what(?:'s| is) on(?: for me)?(?![a-z])"
    r"|(?<![a-z])am i (?:booked|busy|free|in a meeting)(?![a-z])"
    r"|(?<![a-z])(?:my|our) (?:\w+ ){0,3}(?:bookings?|meetings?|reservations?|schedule|calendar|agenda|rooms)(?![a-z])"
    r"|(?<![a-z])(?:have i|did i|do i have|i have|i've|i) [^,.?]{0,24}(?:booked|reserved|bookings?|meetings?|reservations?)(?![a-z])"
)
MINE_ALONE = _words(
    r"^(?:请|帮我|给我)?(?:看一?看|查一?查|看一?下|查一?下|查看|列出|打开)?我们?的?[\s\ue000]*(?:所有|全部|最近)?的?(?:会议(?!室)|预[订定约]|会|日程|安排)(?:列表|记录)?(?:吧|吗|呢)?$"
    r"|^(?:please )?(?:show|list|see|check|view|open)?(?: me)?(?:what are )? ?(?:all )?(?:of )?my (?:upcoming |current |own |next )?(?:bookings|meetings|reservations|schedule|calendar|agenda)(?: list)?(?: (?:for|on|this|next|please)?[\s\ue000]*)?$"
    r"|(?<![a-z])what (?:did|have) i (?:book(?:ed)?|reserved?)(?![a-z])|^我[\s\ue000]*(?:订|定)了(?:什么|啥|哪些)"
)
ROOM_FACTS = _words(
    r"(?:几|多少)(?:个|位)?(?:人|座)|多大|能坐|坐得?下|容纳|(?:有|是)(?:什么|哪些|啥)|什么(?:设备|样)|在(?:哪|几楼)|哪层|几楼"
    r"|(?<![a-z])(?:how (?:big|large|many)|what(?:'s| is| are| does)(?: there)? (?:in|inside|it|at)|what (?:equipment|features|kit)|where(?:'s| is)|which floor|capacity of|seats?|fits?)(?![a-z])"
)
SKIP_DATE = _words(
    r"(?:那|这|冲突的?|占用的?)(?:一|几)?(?:天|次|场|日|个日期)(?:就|先|都)?(?:不改|不动|不要|不订|跳过|除外|算了|去掉|略过)|(?:跳过|除了|去掉|略过)(?:那|这|冲突的?|占用的?)(?:一|几)?(?:天|次|场|日)"
    r"|(?<![a-z])(?:skip|leave out|except(?: for)?|without|omit) (?:(?:that|those|this|them)(?=[\s.!,]*$)|(?:that|those|the|this) (?:clashing |busy |taken )?(?:ones?|dates?|days?|weeks?)(?![a-z]))|(?<![a-z])leave (?:that|those|it|them)(?: (?:one|date|day)s?)? out(?![a-z])"
)
LIST = _words(
    r"查|看|哪|什么|几个|几点|何时|多少|列|有没有|吗|\?|？|(?<![a-z])(?:what|which|show|list|any|do i|did i|have i|when|where|see|check|view|how many|tell me)(?![a-z])"
)
WHO = _words(
    r"谁|有人(?:用|在|占|订)?(?:吗|没|$)|被(?:谁|人)?(?:占|订|用)|占用|在用|(?<![a-z])(?:who(?:'s| is| has| have| booked| reserved)?|whose|is [^,.?]{1,30} (?:booked|reserved)|is (?=\ue000)[\ue000 ]+(?:booked|reserved)|occupied|busy|in use|taken|being used)(?![a-z])"
)
WHY_NOT = _words(
    r"为什么(?:没有|不能|不给|不推荐|不|没)?|为何|怎么(?:没有|不能|没)|(?<![a-z])(?:why (?:not|isn't|can't|is|wasn't|don't|no)|how come)(?![a-z])"
)
FREE = _words(
    r"空闲|空着|有空|空的|空(?:会议室|房|位|档|余)|空不空|空吗|能订(?:吗|哪|什么)|可订|可用|有没有(?=.{0,14}(?:会议室|房间|空))|还有(?:没有|哪些|什么)?(?:空|会议室|房)|哪些(?:会议室|房间)|什么(?:会议室|房间)"
    r"|(?<![a-z])(?:free|available|availability|vacant|open slots?)(?![a-z])|(?<![a-z])(?:which|what|any) (?:meeting )?rooms?(?![a-z])"
)
UPCOMING = _words(
    r"下一?(?:个|场|次)(?:会|预[订定约])|(?<![a-z])next (?:meeting|booking|one)(?![a-z])"
)
HAS_THING = _words(
    r"(?:有没有|有|带|能|可以|可不可以|支持).{0,8}(?:吗|没有|$)|(?<![a-z])(?:does|has|have|is there|are there|can i use)(?![a-z])"
)
EVERYONE = _words(
    r"所有人|全部人|大家|每个人|别人|其他人|全公司|(?<![a-z])(?:everyone|everybody|all users|other people|someone else)(?:'s)?(?![a-z])"
)
OFF_TOPIC = _words(
    r"天气|吃(?:什么|饭|啥)|新闻|股票|股价|翻译|笑话|写(?:一?(?:首|个|篇|段)|诗|代码|作文|邮件)|唱|讲个|故事|菜谱|外卖|点餐|打车|机票|酒店|火车票|高铁|闹钟|提醒我|算一下|计算|脚本|代码|电影|音乐|游戏|星座|汇率|彩票|请假|报销"
    r"|(?<![a-z])(?:weather|news|stocks?|translate|jokes?|poems?|write|script|python|javascript|code|recipes?|flights?|hotels?|taxi|uber|restaurants?|lunch order|pizza|alarm|remind me|movies?|music|games?|lottery|exchange rate|capital of|president|homework|essay|vacation request|expenses?|story|sing)(?![a-z])"
)
OTHER_GOODS = _words(
    r"机票|车票|门票|电影票|酒店|宾馆|民宿|火车|高铁|外卖|点餐|订餐|餐厅|饭店|饭馆|打车|专车|蛋糕|鲜花|咖啡"
    r"|(?<![a-z])(?:flights?|plane|trains?|hotels?|taxi|cab|uber|tickets?|restaurants?|pizza|catering|coffee)(?![a-z])"
)
ROOM_NOUN = _words(
    r"会议|会议室|房间|开会|(?<![a-z])(?:meetings?|rooms?|conference|booking|reservation)(?![a-z])"
)
GREETING = _words(
    r"^(?:你好|您好|嗨|哈喽|在吗|早上好|下午好|晚上好|早|hi|hello|hey|good (?:morning|afternoon|evening)|yo|hiya)[\s,.!?。~呀啊there]*$"
)
THANKS = _words(
    r"^(?:谢谢|多谢|感谢|辛苦了|谢啦|thanks|thank you|thx|cheers|ty)[\s,.!。~你您啦了so much a lot very]*$"
)
HELP = _words(
    r"^(?:帮助|帮忙|怎么用|你(?:能|会|可以)(?:做|干)?(?:些)?什么|你是谁|who are you|使用说明|help|what can you do|how (?:do|does) (?:i|this|it) (?:use|work)[^,.]{0,12}|usage)[\s?!.？。吗呢]*$"
)
FILLER = _words(
    r"[\s\W_]+|麻烦|请|帮我|帮忙|给我|我们?|想要?|需要|要|的|了|吧|呢|啊|呀|哦|个|一个|一下|下|在|有|是|和|就|那|那天|时候|左右|大概|大约|开始|结束|到|从|用|能|可以|会议室?|会|开|房间?|地方|订|预[订定约]|约|找|间|安排|谢谢|你好|时间|人数|时长|另外|还|也|都|再|不对|改成?|换成?|等等"
    r"|(?<![a-z])(?:the|an?|for|at|on|in|to|from|of|with|and|or|please|pls|thanks|hi|hello|hey|i|we|us|me|my|need|want|would|like|could|can|you|book|reserve|room|meeting|is|it|be|there|there'll|will|have|get|some|just|about|around|actually|make|so|ok|that|this|us|our|starting|until|till|by)(?![a-z])"
)
