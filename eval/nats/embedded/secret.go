package embedded

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/nats-io/nats-server/v2/server"
)

// open reports whether a server with these options would let anybody in.
func open(o *server.Options) bool {
	return o.Username == "" && o.Authorization == "" && len(o.Users) == 0 && len(o.Nkeys) == 0 &&
		len(o.TrustedKeys) == 0 && len(o.TrustedOperators) == 0 && o.AuthCallout == nil &&
		o.CustomClientAuthentication == nil && !o.TLSVerify && !o.TLSMap
}

// secret returns the secret of the server whose folder is dir. The first time it makes one of 128 random bits or more,
// in a file that only this user can read, so that clients find a server that was started again.
func secret(dir string) (string, error) {
	path := filepath.Join(dir, "secret")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("embedded: Config.Dir: %w", err)
	}
	if info, err := os.Stat(dir); err != nil {
		return "", fmt.Errorf("embedded: Config.Dir: %w", err)
	} else if (info.Mode().Perm()&0o002 != 0 || !ours(info)) && runtime.GOOS != "windows" {
		return "", fmt.Errorf("embedded: Config.Dir is %s, where other users can write: name a folder of your own", dir)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return readSecret(path)
	} else if err != nil {
		return "", fmt.Errorf("embedded: making the server's secret: %w", err)
	}
	text := rand.Text()
	_, err = f.WriteString(text + "\n")
	if err = errors.Join(err, f.Close()); err != nil {
		return "", fmt.Errorf("embedded: making the server's secret: %w", err)
	}
	return text, nil
}

// readSecret returns the secret that an earlier server has left.
func readSecret(path string) (string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("embedded: reading the server's secret: %w", err)
	}
	secret := strings.TrimSpace(string(text))
	info, err := os.Lstat(path)
	if err != nil || secret == "" || runtime.GOOS != "windows" && (info.Mode().Perm()&0o077 != 0 || !ours(info)) {
		return "", fmt.Errorf("embedded: the server's secret in %s is empty, or others can read it, or made it: "+
			"remove the file for a new one", path)
	}
	return secret, nil
}
