import { AlliumError, type Message, type ToolDef } from '@allium/core'
import { isRecord } from '@allium/core/internal'
import { isSetting, type RunConfig, settingNames } from './run-config.ts'

/** Returns the problem with a field from a config hook; undefined if it is valid. */
type Check = (value: unknown) => string | undefined

/** Returns a patch that can be merged. @throws AlliumError `layer.result` with the hook, the field, and the expected value */
export function checkPatch<Config extends RunConfig>(
  location: string,
  patch: unknown,
  config: Config,
): Partial<Config> {
  if (!isRecord(patch)) throw violation(location, `${describe(patch)}. Return an object of changes, or nothing.`)
  for (const [key, value] of Object.entries(patch)) {
    if (!(key in config) && !isSetting(key))
      throw violation(location, `the unknown key "${key}". Known keys: ${fieldNames(config)}.`)
    const expected = value === undefined ? undefined : checks[key as keyof RunConfig]?.(value)
    if (expected !== undefined) throw violation(location, `"${key}" as ${describe(value)}. Expected ${expected}.`)
  }
  return patch as Partial<Config>
}

const checks: Partial<Record<keyof RunConfig, Check>> = {
  messages: (value) => (Array.isArray(value) && value.every(isMessage) ? undefined : 'a list of { role, content }'),
  tools: (value) => (Array.isArray(value) && value.every(isTool) ? undefined : 'a list of tools of the config'),
  instructions: (value) => (typeof value === 'string' ? undefined : 'a text'),
  settings: (value) => (isRecord(value) ? undefined : 'an object such as { temperature: 0 }'),
  maxSteps: (value) => (Number.isInteger(value) && (value as number) >= 1 ? undefined : 'a whole number from 1'),
  toolChoice: (value) =>
    ['auto', 'none', 'required'].includes(value as string) || (isRecord(value) && typeof value.name === 'string')
      ? undefined
      : "'auto', 'none', 'required' or { name }",
}

function isMessage(value: unknown): value is Message {
  if (!isRecord(value)) return false
  const { role, content } = value
  return roles.includes(role as string) && (typeof content === 'string' || Array.isArray(content))
}

function isTool(value: unknown): value is ToolDef {
  return isRecord(value) && typeof value.name === 'string'
}

const roles = ['system', 'user', 'assistant', 'tool']

function fieldNames(config: RunConfig): string {
  return [...new Set([...Object.keys(config), ...settingNames])].join(', ')
}

function describe(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value.slice(0, 60))
  if (Array.isArray(value)) return 'a list of something else'
  return isRecord(value) ? 'an object of other fields' : String(value)
}

function violation(location: string, problem: string): AlliumError {
  return new AlliumError('layer.result', `${location} returned ${problem}`)
}
