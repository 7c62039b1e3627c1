import { parseArgs } from 'node:util'
import { messageOf } from 'allium'
import type { CommandContext } from './command-context.ts'
import { UsageError } from './exit-codes.ts'
import { openRunStore } from './runs/open-run-store.ts'
import { report } from './runs/report.ts'

const string = { type: 'string' } as const
const flag = { type: 'boolean' } as const

/**
 * `allium store memory --store chats.db --tenant acme --off`: shows whether memory is on for a tenant or a person, and switches it. Processes
 * that run need no restart. @throws UsageError
 */
export async function switchMemory(argv: readonly string[], context: CommandContext): Promise<number> {
  const { store: where, tenant, owner, on, off, json = false } = valuesOf(argv)
  if (tenant === undefined || (on && off))
    throw new UsageError('"allium store memory" needs --tenant, and takes --on or --off, and --owner for one person.')
  const store = await openRunStore(where, context)
  try {
    const { passages } = store
    if (passages === undefined) throw new UsageError('The store has no passages.')
    if (on || off) await passages.setOff({ tenant, owner }, off ? Date.now() : undefined)
    // The switch of a tenant is the same for every person.
    const { tenant: all, person } = await passages.off({ tenant, owner: owner ?? 'anyone' })
    const times = {
      ...(all !== undefined && { tenant: all }),
      ...(owner !== undefined && person !== undefined && { person }),
    }
    const since = Object.entries(times).map(([who, at]) => `by the ${who} since ${new Date(at).toISOString()}`)
    const text = since.length === 0 ? 'Memory is on.' : `Memory is off: ${since.join(', ')}.`
    return report({ on: since.length === 0, off: times }, text, { isDone: true, json }, context)
  } finally {
    await store.close()
  }
}

function valuesOf(argv: readonly string[]) {
  try {
    const options = { store: string, tenant: string, owner: string, on: flag, off: flag, json: flag }
    return parseArgs({ args: [...argv], options }).values
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
