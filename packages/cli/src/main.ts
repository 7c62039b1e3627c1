import { createRequire } from 'node:module'
import { messageOf } from 'allium'
import { help, parseCommand } from './arguments.ts'
import { chatCommand } from './chat-command.ts'
import type { CommandContext } from './command-context.ts'
import { devCommand } from './dev-command.ts'
import { codeOfError, exitCodes, UsageError } from './exit-codes.ts'
import { errorFields, toLine } from './print-run.ts'
import { printable } from './printable.ts'
import { resumeCommand } from './resume-command.ts'
import { runCommand } from './run-command.ts'
import { runsCommand } from './runs/runs-command.ts'
import { runsHelp } from './runs/runs-help.ts'
import { schedulesCommand, schedulesHelp } from './runs/schedules-command.ts'
import { storeCommand } from './store-command.ts'

/** Runs a command line and returns its exit code. Never throws: an error is one line on stderr, or on stdout with `--json`. */
export async function main(argv: readonly string[], context: CommandContext): Promise<number> {
  const { stdout, stderr } = context
  try {
    const command = await lateCommand(argv[0])
    if (command !== undefined) return await command(argv.slice(1), context)
    if (argv[0] === 'dev') return await devCommand(argv.slice(1), context)
    if (argv[0] === 'runs') return await runsCommand(argv.slice(1), context)
    if (argv[0] === 'schedules') return await schedulesCommand(argv.slice(1), context)
    if (argv[0] === 'store') return await storeCommand(argv.slice(1), context)
    const args = parseCommand(argv, context.cwd())
    if (args.command === 'help') stdout.write(help)
    if (args.command === 'version') stdout.write(`${version()}\n`)
    if (args.command === 'run') return await runCommand(args, context)
    if (args.command === 'chat') return await chatCommand(args, context)
    if (args.command === 'resume') return await resumeCommand(args, context)
    return exitCodes.ok
  } catch (error) {
    if (argv.includes('--json')) stdout.write(`${toLine({ type: 'error', ...errorFields(error) })}\n`)
    else stderr.write(`${printable(messageOf(error))}\n`)
    if (error instanceof UsageError && !argv.includes('--json')) stderr.write(`\n${await helpOf(argv[0])}`)
    return codeOfError(error)
  }
}

type Command = (argv: readonly string[], context: CommandContext) => Promise<number>

/** Loads a command that most calls do not need. */
async function lateCommand(name: string | undefined): Promise<Command | undefined> {
  if (name === 'eval') return (await import('./eval/eval-command.ts')).evalCommand
  if (name === 'check') return (await import('./check-command.ts')).checkCommand
  if (name === 'backtest') return (await import('./backtest/backtest-command.ts')).backtestCommand
  if (name === 'replay') return (await import('./replay/replay-command.ts')).replayCommand
  if (name === 'rollouts') return (await import('./rollouts-command.ts')).rolloutsCommand
  return undefined
}

async function helpOf(command: string | undefined): Promise<string> {
  if (command === 'eval') return (await import('./eval/eval-arguments.ts')).evalHelp
  if (command === 'backtest') return (await import('./backtest/backtest-arguments.ts')).backtestHelp
  if (command === 'replay') return (await import('./replay/replay-arguments.ts')).replayHelp
  if (command === 'runs') return runsHelp
  return command === 'schedules' ? schedulesHelp : help
}

function version(): string {
  return (createRequire(import.meta.url)('../package.json') as { version: string }).version
}
