package nats

import "testing"

// A result that comes late, to an evaluation that was left, does not hide the job that was asked for since.
func TestALateResultLeavesTheNextJob(t *testing.T) {
	task := Task{Name: "cp", Digest: "0123456789abcdef"}
	e := &Evaluator{cfg: Config{Server: Server{Prefix: DefaultPrefix}, Task: task}, jobs: map[string]*waiting{}}
	left, _, err := e.join("program", 0)
	if err != nil {
		t.Fatal(err)
	}
	delete(e.jobs, left.Key) // as leave does
	next, first, _ := e.join("program", 0)
	m := left.message(e.cfg.Server)
	m.Subject = e.cfg.Server.subject("results", left.token(), left.Digest, left.Key)
	m.Data = []byte(`{"task":"cp","digest":"` + left.Digest + `","key":"` + left.Key + `","result":{"score":1,"valid":true}}`)
	e.take(left, m, true)
	if !first || !left.over || e.jobs[next.Key] != next {
		t.Errorf("the first is over: %v; the next is still waited for: %v", left.over, e.jobs[next.Key] == next)
	}
}
