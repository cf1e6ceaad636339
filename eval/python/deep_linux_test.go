package python

import (
	"bytes"
	"os"
	"testing"
	"time"
)

// A candidate that leaves what takes long to remove holds up neither its result nor the next candidate: its interpreter
// gives cleaning up, and is replaced. Here every removal takes longer than cleaning may.
func TestDeepFolders(t *testing.T) {
	r := without(t, Config{Workers: 1, Timeout: time.Minute}, families["mounts"]) // which bound the number of folders
	k := r.pool.kind
	k.grace = time.Hour // which must not be waited for
	patient := k.code
	k.code = bytes.Replace(patient, []byte("LONGEST = 1 "), []byte("LONGEST = 0 "), 1)
	if bytes.Equal(k.code, patient) {
		t.Fatal("the harness has no such constant")
	}
	z, err := r.pool.take(t.Context(), true)
	if err != nil {
		t.Fatal(err)
	}
	r.pool.put(z, true)
	out, err := r.Run(t.Context(),
		"import os\ndef run():\n  for i in range(1000):\n    os.mkdir('d')\n    os.chdir('d')\n  return 1\n", "run")
	if err != nil || string(out) != "1" {
		t.Errorf("got %s, %v", out, err)
	}
	select {
	case <-z.process.Done():
	default:
		t.Error("its interpreter still runs")
	}
	if out, err := r.Run(t.Context(), "import os\ndef run(): return os.listdir('.')", "run"); err != nil ||
		string(out) != "[]" {
		t.Errorf("the next candidate got %s, %v", out, err)
	}
	r.pool.removing.Wait()
	if _, err := os.Lstat(z.scratch); !os.IsNotExist(err) {
		t.Errorf("its folder: %v", err)
	}
}
