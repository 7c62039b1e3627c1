import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { toJson } from '@allium/core'
import { recording, turnOf } from './scene.ts'

/** Writes down the journal of the turn as this release records it: `node … record.ts 0.2`. What an earlier one wrote stays as it is. */
const [release = ''] = process.argv.slice(2)
if (!/^\d+\.\d+$/.test(release)) throw new Error('Say which release records it, such as 0.2.')
const journal = recording()
const { text, status, usage, messages } = await turnOf(journal, { calls: [] })
const golden = { steps: journal.steps, result: JSON.parse(toJson({ text, status, usage, messages })) }
writeFileSync(join(import.meta.dirname, `${release}.json`), `${JSON.stringify(golden, null, 2)}\n`)
