# shellcheck shell=bash
# What a verb of ci/ says when it is asked how it is used: the comment at its head. Sourced with
# the checkout as the working folder and the verb's own arguments.
case "${1:-}" in
  -h | --help)
    sed -n '2,/^[^#]/s/^# \{0,1\}//p' "ci/$(basename "$0")"
    exit
    ;;
esac
