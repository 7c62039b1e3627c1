import { messageOf } from '@allium/core'
import { z } from 'zod'
import type { Entry } from '../adapter/hooks.ts'
import type { HookName } from '../contexts.ts'
import { type Env, hookEnv } from '../shell/environment.ts'
import { runShellHook, type ShellCommand } from '../shell/shell-hook.ts'
import { splitCommand } from '../shell/split-command.ts'
import { issueMistake, milliseconds } from '../source/check-shape.ts'
import { formatPath, mistake, type Path, type Source } from '../source/source.ts'
import type { Code } from './code.ts'
import { kindOf } from './entry-kind.ts'
import { interpreterOf, scriptExtensions } from './interpreters.ts'
import { absolute, resolveFile } from './paths.ts'

/** The options for compiling entries. */
export interface EntryOptions {
  readonly source: Source
  readonly code: Code
  readonly env: Env
  readonly allowOutside: boolean
  /** The default timeout of an entry, in milliseconds. */
  readonly timeout: number
  /** Receives each file that an entry was read from. */
  onFile(file: string): void
}

const options = z.strictObject({
  run: z.custom((run) => typeof run === 'string' || typeof run === 'function', 'expected the text of an entry'),
  policy: z.boolean().optional(),
  timeout: milliseconds.optional(),
  env: z.union([z.array(z.string()), z.record(z.string(), z.union([z.string(), z.literal(true)]))]).optional(),
})

/** Compiles an entry. @throws AlliumError `config.*` */
export async function compileEntry(given: unknown, path: Path, hook: HookName, use: EntryOptions): Promise<Entry> {
  const entry = typeof given === 'string' || typeof given === 'function' ? { run: given } : given
  const parsed = options.safeParse(entry)
  if (!parsed.success) throw issueMistake(use.source, parsed.error.issues[0] as z.core.$ZodIssue, path, entry, options)
  const { run, policy, timeout = use.timeout, env } = parsed.data
  const label = `${hook}[${path.at(-1)}] (${describeRun(run)})`
  return { label, policy, timeout, run: await new EntryRun(path, hookEnv(use.env, env), use).of(run) }
}

/** Compiles one entry to a function. */
class EntryRun {
  readonly #path: Path
  readonly #env: Record<string, string>
  readonly #use: EntryOptions

  constructor(path: Path, env: Record<string, string>, use: EntryOptions) {
    this.#path = path
    this.#env = env
    this.#use = use
  }

  async of(run: unknown): Promise<Entry['run']> {
    if (typeof run === 'function') return (ctx) => run(ctx)
    const entryText = (run as string).trim()
    switch (kindOf(entryText)) {
      case 'shell':
        return this.#shell(entryText.slice('shell:'.length))
      case 'script':
        return this.#script(entryText, [])
      case 'file':
        return this.#file(entryText)
      case 'inline':
        return this.#inline(entryText)
      case 'unknown':
        throw this.#fail(
          'config.hook',
          `names a file whose extension is not one of .ts, .js, ${scriptExtensions.join(', ')}. Write "shell: ${entryText}" to run a program.`,
        )
    }
  }

  async #file(text: string): Promise<Entry['run']> {
    const { code, source, onFile } = this.#use
    onFile(absolute(text, source.root)) // watched even if it has an error, because it may be fixed
    const exported = await code.importFile(await this.#resolve(text)).catch((cause) => {
      throw this.#fail('config.hook', `names the file ${text}, which cannot be loaded: ${messageOf(cause)}`, cause)
    })
    if (typeof exported === 'function') return (ctx) => exported(ctx)
    throw this.#fail(
      'config.hook',
      `names the file ${text}, whose default export is not a function. Expected "export default async (ctx) => {…}".`,
    )
  }

  async #inline(text: string): Promise<Entry['run']> {
    const { code, source } = this.#use
    const at = `${source.file ?? `${source.root}/config.ts`}.${formatPath(this.#path)}.ts`
    const value = await code.evaluate(text.replace(/;\s*$/, ''), at).catch((cause) => {
      throw this.#fail('config.hook', `is not a valid TypeScript expression: ${messageOf(cause)}`, cause)
    })
    if (typeof value === 'function') return (ctx) => value(ctx)
    throw this.#fail(
      'config.hook',
      'is not a function. Expected "(ctx) => {…}", a path such as ./hook.ts, or "shell: command".',
    )
  }

  async #shell(line: string): Promise<Entry['run']> {
    const commandParts = splitCommand(line)
    if (commandParts === undefined) throw this.#fail('config.hook', 'has an unclosed quote. Close it.')
    const [command, ...args] = commandParts
    if (command === undefined) throw this.#fail('config.hook', 'names no command. Expected "shell: command arguments".')
    if (!command.includes('/')) return this.#commandRun(command, args)
    // A program may be anywhere; a relative path names a file of the project.
    if (/^[/~]/.test(command)) return this.#interpreterRun(absolute(command, this.#use.source.root), command, args)
    return this.#script(command, args)
  }

  async #script(text: string, args: readonly string[]): Promise<Entry['run']> {
    return this.#interpreterRun(await this.#resolve(text), text, args)
  }

  #interpreterRun(programPath: string, writtenPath: string, args: readonly string[]): Entry['run'] {
    const interpreter = interpreterOf(writtenPath)
    if (interpreter === undefined) return this.#commandRun(programPath, args)
    return this.#commandRun(interpreter, [programPath, ...args])
  }

  #commandRun(command: string, args: readonly string[]): Entry['run'] {
    const program: ShellCommand = { command, args, cwd: this.#use.source.root, env: this.#env }
    return (ctx, call) => runShellHook(program, ctx, call)
  }

  #resolve(text: string): Promise<string> {
    const { source, allowOutside } = this.#use
    return resolveFile(text, source.root, allowOutside, this.#fail)
  }

  readonly #fail = (errorCode: Parameters<typeof mistake>[1], problem: string, cause?: unknown) =>
    mistake(this.#use.source, errorCode, this.#path, problem, { cause })
}

function describeRun(run: unknown): string {
  if (typeof run === 'function') return run.name === '' ? 'a function' : run.name
  const line = (run as string).trim().replace(/\s+/g, ' ')
  return line.length > 60 ? `${line.slice(0, 57)}…` : line
}
