import { record } from '@allium/replay'
import { Agent, type AgentOptions, type Usable } from 'allium'
import * as guard from 'allium/guard'

const refund = {
  name: 'refund',
  description: 'Refunds an amount',
  jsonSchema: { type: 'object', properties: { amount: { type: 'number' } } },
  execute: () => 'refunded',
}

/** An agent "support" whose turns are recorded in its store. */
export function supportAgent(options: AgentOptions, layers: readonly Usable[] = []): Agent {
  return new Agent({ name: 'support', tools: [refund], ...options }).use([record(), ...layers]) as Agent
}

const args = { amount: (amount: unknown) => Number(amount) <= 100 }

/** The changed agent: no refunds above 100. */
export default function changedAgent(): Agent {
  const policy = guard.policy({ rules: [{ tool: 'refund', args, reason: 'above 100' }] })
  return supportAgent({ model: 'acme/none', version: '2' }, [policy])
}

/** The agent as it was. */
export const unchanged = () => supportAgent({ model: 'acme/none' })
