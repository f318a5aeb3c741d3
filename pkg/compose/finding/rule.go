package finding

// Rule describes one rule of any source. It is the single origin of the rule's page, of the catalogue
// and of what `rules NAME` prints.
type Rule struct {
	Name           string   `json:"name"` // kebab-case, stable for ever
	Title          string   `json:"title"`
	Group          string   `json:"group"` // heading in the catalogue
	Source         Source   `json:"source"`
	Severity       Severity `json:"severity"`    // default severity
	Description    string   `json:"description"` // why the rule exists
	Remedy         string   `json:"remedy"`
	Bad            string   `json:"bad"`  // YAML that the rule fires on
	Good           string   `json:"good"` // YAML that it does not fire on
	FalsePositives string   `json:"falsePositives,omitempty"`
	PSS            *PSS     `json:"pss,omitempty"`
	References     []string `json:"references,omitempty"` // URLs
	// Parameters are what the configuration may tell the rule.
	Parameters []Parameter `json:"parameters,omitempty"`
}

// Parameter is a list of strings that the configuration may give a rule of the policy pack; without it the list is
// empty.
type Parameter struct {
	Name        string `json:"name"`
	Description string `json:"description"` // what an item means, a sentence
}
