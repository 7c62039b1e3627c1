import { createRequire } from 'node:module'
import { messageOf } from 'allium'
import { help, parseCommand } from './arguments.ts'
import { chatCommand } from './chat-command.ts'
import { codeOfError, exitCodes, UsageError } from './exit-codes.ts'
import { printable } from './printable.ts'
import { resumeCommand } from './resume-command.ts'
import { runCommand } from './run-command.ts'
import { errorFields, toLine } from './show-run.ts'
import { storeCommand } from './store-command.ts'
import type { Surroundings } from './surroundings.ts'

/** Runs a command line. Gives its exit code, and throws nothing: a failure is one line on stderr, with `--json` one on stdout. */
export async function main(argv: readonly string[], around: Surroundings): Promise<number> {
  const { stdout, stderr } = around
  try {
    if (argv[0] === 'store') return await storeCommand(argv.slice(1), around)
    const given = parseCommand(argv, around.cwd())
    if (given.command === 'help') stdout.write(help)
    if (given.command === 'version') stdout.write(`${version()}\n`)
    if (given.command === 'run') return await runCommand(given, around)
    if (given.command === 'chat') return await chatCommand(given, around)
    if (given.command === 'resume') return await resumeCommand(given, around)
    return exitCodes.ok
  } catch (error) {
    if (argv.includes('--json')) stdout.write(`${toLine({ type: 'error', ...errorFields(error) })}\n`)
    else stderr.write(`${printable(messageOf(error))}\n`)
    if (error instanceof UsageError && !argv.includes('--json')) stderr.write(`\n${help}`)
    return codeOfError(error)
  }
}

function version(): string {
  return (createRequire(import.meta.url)('../package.json') as { version: string }).version
}
