import { readFile, stat } from 'node:fs/promises'
import { dirname, extname, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AlliumError, isAlliumError, messageOf } from '@allium/core'
import type { AlliumConfig } from '../define-config.ts'
import { type Code, isCodeFile } from '../entries/code.ts'
import type { Env } from '../shell/environment.ts'
import { FilledValues } from './filled-values.ts'
import { dataOnly, filledIn } from './plain-data.ts'
import { readYaml } from './read-yaml.ts'
import { mistake, type Path, type Source } from './source.ts'

export interface ReadOptions {
  readonly env: Env
  /** @default true for a path, false for an object */
  readonly trusted: boolean | undefined
  readonly code: Code
}

/** Reads a config from a file or an object. @throws AlliumError `config.not_found`, `config.invalid`, `config.env`, `config.untrusted` */
export async function readSource(given: string | URL | AlliumConfig, options: ReadOptions): Promise<Source> {
  if (typeof given === 'string') return readConfigFile(resolve(given), options)
  if (given instanceof URL) return readConfigFile(fileURLToPath(given), options)
  const { trusted = false, env } = options
  const source = program(undefined, process.cwd(), trusted)
  return { ...source, data: trusted ? filledIn(source, given, env) : dataOnly(source, given) }
}

async function readConfigFile(file: string, { trusted = true, env, code }: ReadOptions): Promise<Source> {
  const source = program(file, dirname(file), trusted)
  if (['.yml', '.yaml', '.json'].includes(extname(file)))
    return { ...source, isData: true, ...readYaml(await readText(source), source, trusted ? env : undefined) }
  if (!isCodeFile(file))
    throw mistake(source, 'config.invalid', [], 'has an unknown extension. Expected .yml, .yaml, .json, .ts or .js.')
  if (!trusted)
    throw mistake(
      source,
      'config.untrusted',
      [],
      'is a program, but this config is not trusted. Expected YAML or JSON.',
    )
  await readText(source)
  let data: unknown
  try {
    data = await code.importFile(file)
  } catch (cause) {
    throw mistake(source, 'config.invalid', [], `cannot be loaded: ${messageOf(cause)}`, { cause })
  }
  return { ...source, data: filledIn(source, data, env) }
}

/** Creates a source without text, where positions are unknown. */
function program<File extends string | undefined>(file: File, root: string, trusted: boolean) {
  const filled = new FilledValues()
  return {
    file,
    root,
    trusted,
    isData: false,
    filled,
    written: (path: Path) => filled.original(path),
    conceal: (text: string) => filled.conceal(text),
    at: () => undefined,
  }
}

/** A size that parsers handle safely; real configs are much smaller. */
const maxBytes = 256 * 1024

async function readText(source: Pick<Source, 'at'> & { file: string }): Promise<string> {
  const { file } = source
  try {
    const { size } = await stat(file)
    if (size > maxBytes)
      throw mistake(
        source,
        'config.invalid',
        [],
        `has ${size} bytes. Expected up to 256 KiB. Move long content to the file of a hook or tool.`,
      )
    return await readFile(file, 'utf8')
  } catch (cause) {
    if (isAlliumError(cause)) throw cause
    throw new AlliumError('config.not_found', `The config file ${file} cannot be read: ${messageOf(cause)}`, { cause })
  }
}
