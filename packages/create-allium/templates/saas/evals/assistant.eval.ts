import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineEval, readCases, score } from '@allium/evals'
import { sqlite } from '@allium/store-sqlite'
import { createAssistant } from '../src/agent.ts'
import { chooseModel } from '../src/model.ts'

if (existsSync('.env')) process.loadEnvFile('.env')

const cases = await readCases(fileURLToPath(new URL('assistant.cases.jsonl', import.meta.url)))

/** `npm run eval` runs these cases and exits with an error if a gate fails. */
export default defineEval({
  agent: createAssistant({
    model: chooseModel(process.env).model,
    store: sqlite(':memory:'),
    secret: 'a secret for evals, 32 characters',
    record: false,
  }),
  // Each case has a user of its own, because the agent limits the requests of a user.
  cases: cases.map((one) => ({ ...one, principal: { tenantId: 'evals', userId: one.id, email: 'ann@acme.test' } })),
  scorers: {
    calls: score.calls(['find_order']),
    // A refund waits for a person. In cases without `expected`, nothing is refunded.
    refund: (run) => {
      const asks = { decision: 'suspended', tool: 'refund' } as const
      return run.expected === 'refund' ? score.decided(asks)(run) : score.notDecided(asks)(run)
    },
  },
  gates: { calls: { min: 0.8 }, refund: { min: 0.8 } },
})
