import { readFile } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AlliumError, messageOf } from '@allium/core'
import type { AlliumConfig } from '../define-config.ts'
import { type Code, isCodeFile } from '../entries/code.ts'
import type { Env } from '../shell/environment.ts'
import { dataOnly, filledIn } from './plain-data.ts'
import { readYaml } from './read-yaml.ts'
import { mistake, type Source } from './source.ts'

export interface ReadOptions {
  readonly env: Env
  /** @default for a path true, for an object false */
  readonly trusted: boolean | undefined
  readonly code: Code
}

/** Reads a config: a file by its path, or an object. @throws AlliumError `config.not_found`, `config.invalid`, `config.env`, `config.untrusted` */
export async function readSource(given: string | URL | AlliumConfig, options: ReadOptions): Promise<Source> {
  if (typeof given === 'string') return readConfigFile(resolve(given), options)
  if (given instanceof URL) return readConfigFile(fileURLToPath(given), options)
  const { trusted = false, env } = options
  const source = { file: undefined, root: process.cwd(), trusted, at: () => undefined }
  return { ...source, data: trusted ? filledIn(source, given, env) : dataOnly(source, given) }
}

async function readConfigFile(file: string, { trusted = true, env, code }: ReadOptions): Promise<Source> {
  const source = { file, root: dirname(file), trusted, at: () => undefined }
  if (['.yml', '.yaml', '.json'].includes(extname(file)))
    return { ...source, ...readYaml(await readText(file), file, trusted ? env : undefined) }
  if (!isCodeFile(file))
    throw mistake(source, 'config.invalid', [], 'has an unknown extension. Expected .yml, .yaml, .json, .ts or .js.')
  if (!trusted)
    throw mistake(source, 'config.untrusted', [], 'is a program, and is not trusted. Expected YAML or JSON.')
  await readText(file)
  let data: unknown
  try {
    data = await code.importFile(file)
  } catch (cause) {
    throw mistake(source, 'config.invalid', [], `cannot be loaded: ${messageOf(cause)}`, { cause })
  }
  return { ...source, data: filledIn(source, data, env) }
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw new AlliumError('config.not_found', `The config file ${file} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
