import { parseCommand } from './arguments.ts'
import type { CommandContext } from './command-context.ts'
import { exitCodes } from './exit-codes.ts'
import { openAgent } from './open-agent.ts'
import { toLine } from './print-run.ts'
import { printable } from './printable.ts'

/** `allium check`: shows the findings of `check()`, of all agents of a group. Returns exit code 1 if one is an error. */
export async function checkCommand(argv: readonly string[], context: CommandContext): Promise<number> {
  // It takes the arguments of `chat`: a config and no prompt.
  const args = parseCommand(['chat', ...argv], context.cwd())
  const { agent, close } = await openAgent(args, context, false)
  try {
    const findings = agent.check()
    for (const finding of findings)
      context.stdout.write(args.json ? `${toLine(finding)}\n` : `${printable(lineOf(finding))}\n`)
    if (findings.length === 0 && !args.json) context.stdout.write(`${printable(`${agent.name}: no findings`)}\n`)
    return findings.some(({ severity }) => severity === 'error') ? exitCodes.failed : exitCodes.ok
  } finally {
    await close()
  }
}

function lineOf({
  severity,
  layers,
  message,
}: {
  severity: string
  layers: readonly string[]
  message: string
}): string {
  return `${severity}: ${layers.join(', ')}: ${message}`
}
