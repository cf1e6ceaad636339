package nats

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// A job is a program to score. In a message the program is the body, and the other fields are headers.
type job struct {
	Task
	Key, Apart string
	Sample     int
	Run        string
	Deaths     int
	Lost       time.Duration
	Timeout    time.Duration
	Program    string
}

// The headers of a job.
const (
	hApart, hSample, hRun           = "Evo-Apart", "Evo-Sample", "Evo-Run"
	hDeaths, hLost, hTimeout, hName = "Evo-Deaths", "Evo-Lost", "Evo-Timeout", "Evo-Task"
)

// hReflected is a header of the server's answers about its streams. See reflected.
const hReflected = "Nats-Stream"

// subject returns the job's own subject.
func (j job) subject(s Server) string {
	return s.subject("jobs", j.token(), j.Digest, j.Key, j.Run)
}

// resultSubject returns the subject of the job's result.
func (j job) resultSubject(s Server) string { return s.subject("results", j.token(), j.Digest, j.Key) }

// message returns the job as a message.
func (j job) message(s Server) *nats.Msg {
	m := nats.NewMsg(j.subject(s))
	m.Header.Set(hName, strconv.Quote(j.Name))
	m.Header.Set(hApart, strconv.Quote(j.Apart))
	m.Header.Set(hSample, itoa(j.Sample))
	m.Header.Set(hRun, j.Run)
	m.Header.Set(hDeaths, itoa(j.Deaths))
	m.Header.Set(hLost, j.Lost.String())
	m.Header.Set(hTimeout, j.Timeout.String())
	m.Data = []byte(j.Program)
	return m
}

// readJob returns the job in a message, or an error if no run of the task sends such a job.
func readJob(s Server, t Task, m *nats.Msg) (j job, err error) {
	tokens := strings.Split(strings.TrimPrefix(m.Subject, s.subject("jobs")+"."), ".")
	if len(tokens) != 4 || tokens[0] != t.token() || tokens[1] != t.Digest {
		return j, fmt.Errorf("its subject %q is not one of the task %v", m.Subject, t)
	}
	if m.Header.Get(hReflected) != "" {
		return j, errors.New("the server sent it in answer to a request of another client")
	}
	j = job{Key: tokens[2], Run: tokens[3], Program: string(m.Data)}
	j.Digest = t.Digest
	var errs [6]error
	j.Name, errs[0] = strconv.Unquote(m.Header.Get(hName))
	j.Apart, errs[1] = strconv.Unquote(m.Header.Get(hApart))
	j.Sample, errs[2] = strconv.Atoi(m.Header.Get(hSample))
	j.Deaths, errs[3] = strconv.Atoi(m.Header.Get(hDeaths))
	j.Lost, errs[4] = time.ParseDuration(m.Header.Get(hLost))
	j.Timeout, errs[5] = time.ParseDuration(m.Header.Get(hTimeout))
	switch err := errors.Join(errs[:]...); {
	case err != nil:
		return j, fmt.Errorf("its headers cannot be read: %w", err)
	case j.Name != t.Name:
		return j, fmt.Errorf("its task is %q", j.Name)
	case j.Deaths < 1 || j.Lost < minLost || j.Timeout <= 0:
		return j, fmt.Errorf("its limits are out of range: %d deaths, lost after %v, %v in all", j.Deaths, j.Lost, j.Timeout)
	case !j.valid():
		return j, fmt.Errorf("its key %q does not match its program and sample", j.Key)
	}
	return j, nil
}
