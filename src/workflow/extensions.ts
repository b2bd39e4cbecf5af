/** Extensions of workflow files; of two files with one name the earlier one is taken. */
export const workflowExtensions: readonly string[] = [".ts", ".mts", ".js", ".mjs"];
