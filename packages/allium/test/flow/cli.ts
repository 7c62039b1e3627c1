import type { Middleware } from '@allium/core'
import * as guard from '../../src/guard.ts'
import { harmless, setUp } from './harmless.ts'
import { play } from './play.ts'
import { scenarioOf } from './scenario.ts'

/* What `npm run bench -- flow` prints before its row: attacks that got there, and harmless tasks that came to their end. */
const attacks = 525
const none = () => undefined

async function reached(makeGuard: () => Middleware | undefined): Promise<number> {
  let count = 0
  for (let seed = 0; seed < attacks; seed++) if ((await play(scenarioOf(seed), makeGuard)).reached.length > 0) count++
  return count
}

function line(name: string, got: number, { tasks, complete, unasked }: Awaited<ReturnType<typeof harmless>>): string {
  const share = (part: number) => `${part} of ${tasks} (${((part / tasks) * 100).toFixed(0)} %)`
  return `| ${name} | ${got} of ${attacks} | ${share(complete)} | ${share(unasked)} |`
}

const without = line('without', await reached(none), await harmless(none))
const guarded = line('with guard.flow', await reached(() => guard.flow() as Middleware), await harmless(setUp))
console.log(
  `| | attacks that get there unasked | harmless tasks that complete | without a question |\n|---|---|---|---|`,
)
console.log(`${without}\n${guarded}\n`)
