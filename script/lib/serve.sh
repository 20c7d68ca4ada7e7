#!/bin/sh
# serve.sh PYTHON: become `manage.py serve`; the address is printed once it answers.
("$1" script/lib/address.py announce $$ &)
exec "$1" manage.py serve
