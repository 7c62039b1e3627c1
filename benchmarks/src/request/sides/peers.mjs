const files = {
  'ai-sdk': 'AI SDK 7, Hono, better-sqlite3',
  mastra: 'Mastra 1.71 with processors',
  langchain: 'LangChain 1.5 with middleware and SqliteSaver',
}

/** The frameworks in benchmarks/peers. `installPeers` installs their packages. */
export const peers = Object.fromEntries(
  Object.entries(files).map(([name, title]) => {
    const start = async (place) => (await import(`../../../peers/src/${name}.mjs`)).start(place)
    const page = name === 'ai-sdk'
    return [name, { title, page, start, drivers: async () => (await import('../../../peers/src/drivers.mjs')).drivers }]
  }),
)
