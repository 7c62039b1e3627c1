/** The pages of docs/ that each package ships about itself. Packages without an entry ship their README alone. */
const pagesOf: Readonly<Record<string, readonly string[]>> = {
  allium: [
    'guide/getting-started',
    'guide/tutorial-support-agent',
    'guide/testing',
    'guide/approval',
    'guide/steering',
    'guide/client-tools',
    'guide/migrating',
    'guide/troubleshooting',
    'concepts/glossary',
  ],
  cli: ['packs/cli'],
  combinators: ['packs/combinators'],
  replay: ['packs/replay'],
  config: ['packs/config'],
  core: ['concepts/', 'guide/write-a-pack', 'reference/'],
  devtools: ['guide/inspector'],
  durable: ['guide/durable', 'guide/durable/'],
  'durable-restate': ['guide/durable-restate'],
  evals: ['packs/evals'],
  guard: ['packs/guard', 'packs/guard/', 'concepts/information-flow'],
  hooks: ['packs/hooks'],
  memory: ['packs/memory', 'packs/memory/', 'concepts/durability'],
  model: ['packs/model', 'concepts/output'],
  observe: ['packs/observe', 'concepts/events'],
  providers: ['guide/ai-sdk', 'concepts/providers'],
  react: ['guide/react'],
  server: ['guide/server', 'guide/server/', 'guide/deploy', 'guide/deploy/', 'guide/multi-tenant', 'reliability'],
  'store-postgres': ['guide/stores', 'guide/stores/'],
  'store-redis': ['guide/stores', 'guide/stores/'],
  'store-sqlite': ['guide/stores', 'guide/stores/'],
  testing: ['packs/testing', 'guide/testing'],
  tools: ['packs/tools', 'packs/tools/'],
}

/** Whether a package ships a page, such as `docs/guide/stores.md`. A name that ends with a slash stands for its folder. */
export function isShippedBy(folder: string, path: string): boolean {
  return (pagesOf[folder] ?? []).some((name) =>
    name.endsWith('/') ? path.startsWith(`docs/${name}`) : path === `docs/${name}.md`,
  )
}
