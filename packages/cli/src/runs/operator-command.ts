import { isAlliumError } from 'allium'
import { UsageError } from '../exit-codes.ts'

/** Error codes of mistakes in the command. */
const mistakes = ['run.options', 'run.version', 'agent.options', 'store.key']

export function asksForHelp(argv: readonly string[]): boolean {
  return argv.length === 0 || argv[0] === 'help' || argv.includes('--help') || argv.includes('-h')
}

/** @throws UsageError for an error that is a mistake in the command */
export async function withUsageErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (isAlliumError(error) && mistakes.includes(error.code)) throw new UsageError(error.message)
    throw error
  }
}
