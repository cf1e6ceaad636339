# Test the function, build it with what calls it, and print the program as a JSON string.
cp candidate.txt candidate/candidate.go || exit 1
failed() {
	cat out.txt >&2
	exit 1
}
if [ -f candidate/candidate_test.go ]; then
	go test $RACE ./candidate >out.txt 2>&1 || failed
fi
CGO_ENABLED=0 go build -trimpath -ldflags='-s -w' -o timed . >out.txt 2>&1 || failed
printf '"'
base64 -w0 timed
printf '"\n'
