import { appendFileSync } from 'node:fs'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { fixtureServer } from './server.mjs'

// What it notes goes to stderr. With a secret in its variables it says it and leaves before it is reached.
if (process.env.SAY !== undefined) {
  console.error(`no luck with ${process.env.SAY}`)
  process.exit(3)
}
if (process.env.STARTS !== undefined) appendFileSync(process.env.STARTS, '.')
console.error(`started as ${process.pid}`)
const note = (what) => void process.stderr.write(`${what}\n`)
await fixtureServer(note, undefined, () => process.exit(1)).connect(new StdioServerTransport())
