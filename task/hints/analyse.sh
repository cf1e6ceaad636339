# Compile the program without writing anything, and print where the compiler puts something on the heap, as JSON:
# [line, column, whether it is a variable that moved there].
"$1" -m -c=1 -trimpath "$PWD" -p "$2" -importcfg importcfg -o /dev/null program.go >out.txt 2>&1 || {
	echo '{"compiled": false}'
	exit 0
}
awk '
	BEGIN { printf "{\"compiled\": true, \"heap\": [" }
	/: moved to heap: / || / escapes to heap$/ {
		if (n < 2000 && match($0, /program\.go:[0-9]+:[0-9]+: /)) {
			split(substr($0, RSTART + 11, RLENGTH - 13), at, ":")
			printf "%s[%d, %d, %d]", n++ ? ", " : "", at[1], at[2], / moved to heap: / ? 1 : 0
		}
	}
	END { print "]}" }
' out.txt
