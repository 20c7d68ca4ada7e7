"""Words that try to be orders to the machine. They are data: they grant, skip and name nothing (P12).

Finding them is a courtesy to the log and to the reply; what makes an attack harmless is that text
can neither write nor confirm.
"""

from __future__ import annotations

import re

from booking.agent.understand.normalise import mask, sentences
from booking.agent.understand.types import Span

_SIGNS = re.compile(
    r"(?:忽略|无视|忘记|忘掉|不要理会|不用管|抛开)[^。!?\n]{0,12}(?:指令|规则|提示词?|指示|设定|限制|命令|要求|约束)"
    r"|(?:你|您)(?:现在|从现在起|从现在开始)?(?:就)?是(?:一个|一名|个)?[^。!?\n]{0,6}(?:管理员|超级用户|开发者|系统|root|admin|dan)"
    r"|我(?:就)?是(?:系统|超级|后台)?(?:管理员|超级用户|开发者|admin|root)|以(?:系统|超级)?管理员(?:的)?(?:身份|权限)"
    r"|(?:跳过|绕过|无需|不用|不需要|省略|免)(?:任何|所有)?(?:的)?(?:确认|审批|权限|验证|检查)(?!了吗)"
    r"|系统(?:消息|提示|指令|命令)?\s?:|(?:输出|显示|告诉我|泄露|打印)[^。!?\n]{0,8}(?:系统提示|提示词|系统指令|密钥|密码|口令)"
    r"|(?<![a-z])(?:ignore|disregard|forget|override|bypass)(?: (?:all|any|the|your|my|of|these|those|every))*"
    r" (?:previous|prior|above|earlier|preceding|system|safety|existing|current)?\s?(?:instructions?|rules?|prompts?|policy|policies|guidelines|restrictions|safeguards|messages)(?![a-z])"
    r"|(?<![a-z])(?:system|assistant|developer)\s?(?:prompt|message|override|instruction)?\s?:|\[/?(?:inst|system)\]|<\|?/?(?:im_start|im_end|system|script|s)\|?>"
    r"|(?<![a-z])you are (?:now )?(?:an? |the )?(?:admin(?:istrator)?|root|system|developer|dan|superuser|unrestricted)(?![a-z])"
    r"|(?<![a-z])(?:i am|i'm) (?:an? |the )?(?:system |site )?(?:admin(?:istrator)?|root|superuser|developer)(?![a-z])"
    r"|(?<![a-z])(?:act|behave|respond) as (?:an? |the )?(?:admin(?:istrator)?|root|system|superuser)(?![a-z])"
    r"|(?<![a-z])(?:skip|bypass|without|no need (?:for|of)|don't ask for|disable)(?: (?:any|the|my|all|asking for))* (?:confirmations?|approvals?|permissions? checks?|checks)(?![a-z])"
    r"|(?<![a-z_])(?:organizer|organiser|user|owner|role|booking)_?(?:id)?\s?(?:=|:=|==)\s?[\w\"']+|(?<![a-z])is_?(?:admin|staff|superuser)\s?="
    r"|(?<![a-z])(?:developer|god|admin|debug|sudo) mode(?![a-z])|(?<![a-z])(?:jailbreak|sudo )"
    r"|(?<![a-z])(?:reveal|print|show|output|repeat|leak)(?: me)? (?:your|the) (?:system |hidden |initial )?(?:prompt|instructions)(?![a-z])"
    r"|(?<![a-z])(?:drop table|delete from|union select|tool_call|function_call)(?![a-z])"
)


def find(folded: str) -> tuple[Span, ...]:
    """The sentences that carry such words, whole, so that no slot is read from them."""
    hits = [match.start() for match in _SIGNS.finditer(folded)]
    if not hits:
        return ()
    return tuple(s for s in sentences(folded) if any(s[0] <= hit <= s[1] for hit in hits))


def without(folded: str, spans: tuple[Span, ...]) -> str:
    for start, end in spans:
        folded = mask(folded, start, end)
    return folded
