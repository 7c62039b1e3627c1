import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { defineEval, readCases, score } from '@allium/evals'
import { createAgent } from '../src/agent.ts'
import { chooseModel } from '../src/model.ts'

if (existsSync('.env')) process.loadEnvFile('.env')

/** `npm run eval` runs these cases and exits with an error if a gate fails. */
export default defineEval({
  agent: createAgent(chooseModel(process.env).model, () => {}),
  cases: await readCases(fileURLToPath(new URL('agent.cases.jsonl', import.meta.url))),
  scorers: {
    // The agent looks up the right time zone. In cases without `expected` it calls no tool.
    zone: (run) =>
      run.expected === undefined ? run.calls.length === 0 : score.calledWith('time_in', { zone: run.expected })(run),
    steps: score.steps({ max: 2 }),
  },
  gates: { zone: { min: 0.8 } },
  scrub: [/\d\d:\d\d:\d\d/], // times differ in each run, so recorded answers leave them out
})
