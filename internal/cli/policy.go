package cli

import "github.com/spf13/cobra"

func newPolicy() *cobra.Command { return &cobra.Command{Use: "policy"} }
