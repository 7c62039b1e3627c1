/** The projects that can be created. */
export const templates = {
  agent: { title: 'Agent', hint: 'one agent with a tool and layers, in the inspector' },
  saas: { title: 'SaaS', hint: 'a server for many tenants: accounts, SQLite, a chat page with approvals' },
  pack: { title: 'Pack', hint: 'your own layer as an npm package' },
} as const

export type Template = keyof typeof templates

export function isTemplate(name: string): name is Template {
  return Object.hasOwn(templates, name)
}
