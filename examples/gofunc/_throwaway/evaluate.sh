# Test the function, measure it and the standard library's in turn, and print how fast it is in
# comparison, each at its best.
{
	go mod init throwaway && go test -run Test -bench . -benchtime 20ms -count 3
} >out.txt 2>&1 || {
	cat out.txt >&2
	exit 1
}
awk '
	/^Benchmark/ { split($1, name, "-"); if (!(name[1] in best) || $3 < best[name[1]]) best[name[1]] = $3 }
	END { printf "{\"combined_score\": %.4f, \"microseconds\": %.1f}\n", best["BenchmarkStandard"] / best["BenchmarkSort"], best["BenchmarkSort"] / 1000 }
' out.txt
