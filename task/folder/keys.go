package folder

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// known returns the keys of OpenEvolve's configuration, in all versions so far, by section. A section
// is a key of the top too.
func known() map[string][]string {
	return map[string][]string{
		"": {"llm", "prompt", "database", "evaluator", "evolution_trace", "hierarchical",
			"max_iterations", "checkpoint_interval", "log_level", "log_dir", "random_seed", "language", "file_suffix",
			"diff_based_evolution", "diff_pattern", "max_code_length", "enforce_evolve_blocks", "allow_full_rewrites",
			"early_stopping_patience", "convergence_threshold", "early_stopping_metric", "max_tasks_per_child"},
		"llm": {"models", "evaluator_models", "primary_model", "primary_model_weight", "secondary_model", "secondary_model_weight",
			"api_base", "api_key", "name", "provider", "init_client", "weight", "system_message", "temperature", "top_p", "max_tokens",
			"timeout", "retries", "retry_delay", "random_seed", "reasoning_effort", "max_budget_usd", "max_ai_credits",
			"allow_all_tools", "manual_mode"},
		"prompt": {"template_dir", "system_message", "island_system_messages", "evaluator_system_message",
			"programs_as_changes_description", "system_message_changes_description", "initial_changes_description",
			"num_top_programs", "num_diverse_programs", "use_template_stochasticity", "template_variations",
			"use_meta_prompting", "meta_prompt_weight", "include_artifacts", "max_artifact_bytes", "artifact_security_filter",
			"suggest_simplification_after_chars", "include_changes_under_chars", "concise_implementation_max_lines",
			"comprehensive_implementation_min_lines", "diff_summary_max_line_len", "diff_summary_max_lines", "code_length_threshold"},
		"database": {"db_path", "in_memory", "log_prompts", "population_size", "allowed_population_overflow", "archive_size",
			"num_islands", "programs_per_island", "elite_selection_ratio", "exploration_ratio", "exploitation_ratio",
			"diversity_metric", "feature_dimensions", "feature_bins", "diversity_reference_size", "migration_interval",
			"migration_rate", "random_seed", "artifacts_base_path", "artifact_size_threshold", "cleanup_old_artifacts",
			"artifact_retention_days", "max_snapshot_artifacts", "novelty_llm", "embedding_model", "embedding_api_base",
			"similarity_threshold"},
		"evaluator": {"timeout", "max_retries", "memory_limit_mb", "cpu_limit", "cascade_evaluation", "cascade_thresholds",
			"parallel_evaluations", "distributed", "use_llm_feedback", "llm_feedback_weight", "enable_artifacts",
			"max_artifact_storage", "evaluator_args"},
		"evolution_trace": {"enabled", "format", "include_code", "include_prompts", "output_path", "buffer_size", "compress"},
		"hierarchical": {"enabled", "tier0_models", "tier1_models", "tier2_models", "tier3_models", "l2_plateau_iterations",
			"l3_plateau_iterations", "l4_plateau_iterations", "l5_plateau_iterations", "min_improvement_threshold",
			"enable_insight_extraction", "insight_extraction_interval", "use_llm_for_insights", "context_max_tokens",
			"recent_weight", "local_weight", "success_weight", "emg_enabled", "emg_save_path", "exploration_phase_threshold",
			"crisis_exhausted_layers"},
	}
}

// used returns the keys that have a meaning here, with their sections.
func used() []string {
	return []string{"language", "file_suffix", "diff_based_evolution", "enforce_evolve_blocks",
		"llm.system_message", "prompt.system_message", "prompt.include_artifacts", "prompt.max_artifact_bytes",
		"evaluator.timeout", "evaluator.memory_limit_mb", "evaluator.cascade_evaluation", "evaluator.cascade_thresholds"}
}

// warn lists the keys that have no effect.
func (s *settings) warn(top *mapping) error {
	var idle, twice, unknown []string
	schema := known()
	check := func(section string, m *mapping) {
		twice = append(twice, m.twice...)
		for _, name := range m.names {
			switch key := m.path + name; {
			case !slices.Contains(schema[section], name):
				unknown = append(unknown, fmt.Sprintf("line %d: nobody knows %s%s", keyLine(m.values[name]), key, meant(name, m.path, schema[section])))
			case section == "" && schema[name] != nil, slices.Contains(used(), key):
			default:
				idle = append(idle, key)
			}
		}
	}
	check("", top)
	for _, name := range top.names {
		if schema[name] == nil {
			continue
		}
		m, err := top.mapping(name)
		if err != nil {
			return err
		}
		check(name, m)
	}
	if len(idle) > 0 {
		s.warnings = append(s.warnings, "known, but not used here: "+strings.Join(idle, ", "))
	}
	for _, key := range twice {
		s.warnings = append(s.warnings, key+" is given more than once: the last counts")
	}
	s.warnings = append(s.warnings, unknown...)
	return nil
}

// keyLine returns the line of a value, which is near enough to that of its key.
func keyLine(n *yaml.Node) int { return n.Line }

// meant names the key that one may have been meant to be.
func meant(name, path string, keys []string) string {
	best, least := "", 3
	for _, k := range keys {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	if best == "" || len(name) < 4 {
		return ""
	}
	return fmt.Sprintf(" (%s%s?)", path, best)
}

// distance returns how many letters have to be put in, taken out or changed to make a of b, at most
// about the longer's length.
func distance(a, b string) int {
	if max(len(a), len(b)) > 100 {
		return 100
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		corner := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := corner
			if a[i] != b[j] {
				d = 1 + min(corner, row[j], row[j+1])
			}
			corner, row[j+1] = row[j+1], d
		}
	}
	return row[len(b)]
}
