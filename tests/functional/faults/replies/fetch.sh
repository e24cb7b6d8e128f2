# A client of the upstream that tells what it was given, and whether that was what the rule says.
out=$(curl -s -m 1 -o body -w '%{http_code} %{size_download} bytes' http://up:8080/report)
echo "exit $? status $out"
[ "$(cat body)" = 42 ] && [ "$out" = "200 3 bytes" ] && echo clean
exit 0
