package cli

import (
	"errors"
	"fmt"
	"html"
	"os"
	"os/exec"
	"runtime"
)

// openBrowser opens link in the user's browser, and returns the name of a file to remove later.
//
// The browser gets the name of a file that only the user may read and that redirects to the link: every user of the
// machine can read the arguments of a process, and the link contains the token.
func openBrowser(link string) (file string, err error) {
	f, err := os.CreateTemp("", "evoalloc-*.html") // of mode 0600
	if err != nil {
		return "", err
	}
	to := html.EscapeString(link)
	_, err = fmt.Fprintf(f, "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" content=\"no-referrer\">"+
		"<meta http-equiv=\"refresh\" content=\"0;url=%s\"><a href=\"%s\">the page</a>\n", to, to)
	if err = errors.Join(err, f.Close()); err == nil {
		err = opener(f.Name()).Start() // not Run, because the browser may be its child
	}
	if err != nil {
		os.Remove(f.Name())
		return "", err
	}
	return f.Name(), nil
}

// opener returns the system's command that opens a file.
func opener(file string) *exec.Cmd {
	switch runtime.GOOS {
	case "darwin":
		return exec.Command("open", file)
	case "windows":
		return exec.Command("rundll32", "url.dll,FileProtocolHandler", file)
	}
	return exec.Command("xdg-open", file)
}
