import { parseArgs } from 'node:util'
import { messageOf } from 'allium'
import type { CommandContext } from './command-context.ts'
import { exitCodes, UsageError } from './exit-codes.ts'
import { importOptional } from './import-optional.ts'
import { printable } from './printable.ts'

interface DevArguments {
  readonly file: string
  readonly exportName: string | undefined
  readonly port: number | undefined
  readonly database: string | undefined
}

/** `allium dev src/agent.ts`: serves the inspector of an agent until Ctrl-C. @throws UsageError */
export async function devCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  const options = devArguments(argv)
  const { startInspector } = await importOptional('@allium/devtools', () => import('@allium/devtools'))
  const { stdout, stderr, env } = context
  const interrupted = new Promise<void>((resolve) => context.on('SIGINT', resolve))
  const onEntry: NonNullable<Parameters<typeof startInspector>[0]['onEntry']> = (entry) => {
    if (entry.type === 'line') (entry.stream === 'stdout' ? stdout : stderr).write(`${printable(entry.text)}\n`)
    else if (entry.state === 'failed') stderr.write(`${printable(entry.error)}\n`)
    else if (entry.state === 'ready') stdout.write(`${printable(`The agent "${entry.agent}" is ready.`)}\n`)
  }
  const inspector = await startInspector({ ...options, cwd: context.cwd(), env, onEntry }).catch((error: unknown) => {
    stderr.write(`${printable(messageOf(error))}\n`)
  })
  if (inspector === undefined) return exitCodes.usage
  stdout.write(`\n  Inspector  ${inspector.url}\n  API        ${inspector.api}\n\n  Ctrl-C stops it.\n\n`)
  await interrupted
  await inspector.close()
  return exitCodes.ok
}

function devArguments(argv: readonly string[]): DevArguments {
  const { values, positionals } = parsed(argv)
  const [file, ...extra] = positionals
  if (file === undefined || extra.length > 0)
    throw new UsageError('"allium dev" takes the module of one agent: allium dev src/agent.ts.')
  const port = values.port === undefined ? undefined : Number(values.port)
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port < 65_536))
    throw new UsageError(`--port is "${values.port}". Give a port from 0 to 65535; 0 picks a free one.`)
  return { file, exportName: values.export, port, database: values.database }
}

function parsed(argv: readonly string[]) {
  const text = { type: 'string' } as const
  try {
    return parseArgs({ args: [...argv], allowPositionals: true, options: { port: text, export: text, database: text } })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
