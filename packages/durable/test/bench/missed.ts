import { missedBudgets } from '../../../../benchmarks/src/missed.mjs'

/** Why a budget is missed, by table of `npm run bench -- durable`. */
const reasons = {
  steps:
    'Each step is a transaction of its own that waits for the disk, so its time depends on the disk. Restate appends steps to the log of its server, which is a process of its own.',
  answers: 'Other programs on the machine delay single answers.',
  images: 'The best of five rounds counts, but other programs on the machine delayed each of them.',
  backlog:
    'The workers and the database share the cores of the machine with other programs. A run takes 3 to 5 ms of CPU of its worker on SQLite, and 7 to 10 ms on Postgres.',
}

/** Prints the missed budgets of a table with their reason. */
export function printMissed(table: keyof typeof reasons, titles: readonly string[]): void {
  if (titles.length > 0) console.log(`\n${missedBudgets(titles.map((title) => ({ title, reason: reasons[table] })))}`)
}
