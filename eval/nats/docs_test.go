package nats_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nats-io/nats-server/v2/server"
	"go.yaml.in/yaml/v3"

	"github.com/evoalloc/evoalloc/eval/nats"
)

// documented returns a file of docs/deploy.
func documented(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../docs/deploy", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// The server's own parser reads the configuration, and it allows what the package needs and no more.
func TestTheDocumentedConfiguration(t *testing.T) {
	o, err := server.ProcessConfigFile("../../docs/deploy/server.conf")
	if err != nil {
		t.Fatal(err)
	}
	if !o.JetStream || len(o.Nkeys) != 2 {
		t.Fatalf("JetStream %v, %d users", o.JetStream, len(o.Nkeys))
	}
	for i, want := range []nats.Permissions{nats.RunPermissions(""), nats.WorkerPermissions("", o.Nkeys[1].Nkey)} {
		got := o.Nkeys[i].Permissions
		if !slices.Equal(got.Publish.Allow, want.Publish) || !slices.Equal(got.Subscribe.Allow, want.Subscribe) {
			t.Errorf("user %d: may publish %v and subscribe %v, want %v", i, got.Publish.Allow, got.Subscribe.Allow, want)
		}
	}
}

// What starts workers has the form that its tool wants, as far as can be told without the tool.
func TestTheDocumentedUnit(t *testing.T) {
	section := ""
	for line := range strings.Lines(documented(t, "evoalloc-worker.service")) {
		line = strings.TrimSpace(line)
		key, value, isKey := strings.Cut(line, "=")
		switch {
		case strings.HasPrefix(line, "["):
			section = line
		case line != "" && (!isKey || value == "" || section == ""):
			t.Errorf("the unit's line %q is no key and value of a section", line)
		case key == "ExecStart" && (section != "[Service]" || !strings.HasPrefix(value, "/")):
			t.Errorf("%s in %s", line, section)
		}
	}
}

func TestTheDocumentedJobArray(t *testing.T) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("sh reads it")
	}
	cmd := exec.Command(sh, "-n")
	cmd.Stdin = strings.NewReader(documented(t, "worker.slurm"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("the job array: %v: %s", err, out)
	}
}

// deployment is what the manifest has of Kubernetes' schema.
type deployment struct {
	APIVersion string `yaml:"apiVersion"`
	Kind       string
	Metadata   struct{ Name string }
	Spec       struct {
		Replicas int
		Selector struct {
			MatchLabels map[string]string `yaml:"matchLabels"`
		}
		Template struct {
			Metadata struct{ Labels map[string]string }
			Spec     struct {
				Grace      int `yaml:"terminationGracePeriodSeconds"`
				Containers []struct {
					Name, Image  string
					Args         []string
					Resources    struct{ Requests, Limits map[string]string }
					VolumeMounts []struct {
						Name      string
						MountPath string `yaml:"mountPath"`
						ReadOnly  bool   `yaml:"readOnly"`
					} `yaml:"volumeMounts"`
				}
				Volumes []struct {
					Name   string
					Secret struct {
						SecretName string `yaml:"secretName"`
					}
				}
			}
		}
	}
}

func TestTheDocumentedManifest(t *testing.T) {
	var d deployment
	decoder := yaml.NewDecoder(strings.NewReader(documented(t, "worker.yaml")))
	decoder.KnownFields(true)
	if err := decoder.Decode(&d); err != nil {
		t.Fatal(err)
	}
	pod := d.Spec.Template.Spec
	if d.APIVersion != "apps/v1" || d.Kind != "Deployment" ||
		d.Spec.Selector.MatchLabels["app"] != d.Spec.Template.Metadata.Labels["app"] ||
		len(pod.Containers) != 1 || len(pod.Volumes) != 1 || pod.Volumes[0].Name != pod.Containers[0].VolumeMounts[0].Name {
		t.Errorf("the manifest: %+v", d)
	}
}
