import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { AnyTool, Message, RunResult } from '@allium/core'
import { type ScriptedStep, scriptedModel } from '@allium/testing'
import { onTestFinished } from 'vitest'
import { type LoadOptions, loadConfig } from '../src/index.ts'

export type Files = Readonly<Record<string, string>>

/** A folder with these files, gone after the test. */
export function project(files: Files = {}): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'allium-config-')))
  onTestFinished(() => rmSync(root, { recursive: true, force: true }))
  for (const [path, text] of Object.entries(files)) write(root, path, text)
  return root
}

export function write(root: string, path: string, text: string): string {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  return file
}

export function read(root: string, path: string): string {
  return readFileSync(join(root, path), 'utf8')
}

/** Steps of a turn that calls the tool "bash" once. */
export function callsBash(command = 'ls', answer = 'Done.'): ScriptedStep[] {
  return [{ toolCalls: [{ name: 'bash', callId: 'c1', args: { command } }] }, answer]
}

export const bash = (execute: (args: { command: string }) => unknown = () => 'ran'): AnyTool => ({
  name: 'bash',
  description: 'Runs a command',
  jsonSchema: { type: 'object' },
  execute,
})

export interface Logged {
  level: 'debug' | 'warn' | 'error'
  message: string
}

export interface TurnOptions extends LoadOptions {
  steps?: readonly ScriptedStep[]
  input?: string
}

/** One turn of an agent whose config is YAML, in a folder with these files. */
export async function turn(yaml: string, files: Files = {}, options: TurnOptions = {}) {
  const root = project({ 'allium.config.yml': yaml, ...files })
  return { root, ...(await turnIn(root, options)) }
}

export async function turnIn(root: string, { steps = ['Hello.'], input = 'Hi', ...options }: TurnOptions = {}) {
  const model = scriptedModel(steps)
  const log: Logged[] = []
  const note = (level: Logged['level']) => (message: string) => void log.push({ level, message })
  const logger = { debug: note('debug'), warn: note('warn'), error: note('error') }
  const agent = await loadConfig(join(root, 'allium.config.yml'), { model, logger, tools: [bash()], ...options })
  const session = agent.session({ id: 's1' })
  const begun = performance.now()
  let result: RunResult<object> | undefined
  let error: unknown
  try {
    result = await session.run(input)
  } catch (thrown) {
    error = thrown
  }
  return { agent, session, model, log, result, error, ms: performance.now() - begun }
}

/** YAML with entries of one hook. */
export function hooks(hooks: Record<string, readonly unknown[]>, more = ''): string {
  return `${more}agent:\n  middleware: ${JSON.stringify(hooks)}\n`
}

export function toolResult(messages: readonly Message[] = []): string {
  for (const { content } of messages)
    if (typeof content !== 'string')
      for (const part of content) if (part.type === 'tool-result') return String(part.content)
  return ''
}
