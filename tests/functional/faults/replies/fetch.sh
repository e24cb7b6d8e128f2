# A client of the upstream at a URL that tells what it was given, and whether that was what the rule says.
out=$(curl -s -m 1 -o body -w '%{http_code} %{size_download} bytes' "$1")
echo "exit $? status $out"
[ "$(cat body)" = 42 ] && [ "$out" = "200 3 bytes" ] && echo clean
exit 0
