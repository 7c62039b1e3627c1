/** The folders of the package, from the ground up: each imports only from those before it. */
export const floors: readonly string[] = ['text', 'rules', 'content', 'pii', 'flow', 'limits', '.']
