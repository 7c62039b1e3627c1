import { parseArgs } from 'node:util'
import { messageOf } from 'allium'
import type { CommandContext } from './command-context.ts'
import { UsageError } from './exit-codes.ts'
import { openRunStore } from './runs/open-run-store.ts'
import { print } from './runs/report.ts'
import { age } from './runs/run-tables.ts'

const string = { type: 'string' } as const

/** `allium store feedback --store chats.db --tenant acme`: shows the feedback on the runs of each tenant and agent. @throws UsageError */
export async function printFeedback(argv: readonly string[], context: CommandContext): Promise<number> {
  const { store: where, tenant, json = false } = valuesOf(argv)
  const store = await openRunStore(where, context)
  try {
    if (store.feedback === undefined) throw new UsageError('The store has no feedback.')
    const feedback = await store.feedback.summary({ tenant })
    const now = Date.now()
    const rows = feedback.map((one) => [
      one.tenant,
      one.agent,
      ...[one.count, one.up, one.down].map(String),
      one.mean.toFixed(2),
      age(now - one.latestAt),
    ])
    return print(
      { feedback },
      [[['tenant', 'agent', 'feedback', 'up', 'down', 'mean', 'latest'], ...rows]],
      json,
      context,
    )
  } finally {
    await store.close()
  }
}

function valuesOf(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: { store: string, tenant: string, json: { type: 'boolean' } } }).values
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
