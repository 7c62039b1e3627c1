import { basename, resolve } from 'node:path'
import * as prompts from '@clack/prompts'
import { type Arguments, UsageError } from './arguments.ts'
import { emptyDirectoryError } from './directory.ts'
import { type ProviderName, providers } from './providers.ts'
import { type Template, templates } from './templates.ts'

/** Everything that a project needs to be created. */
export interface Choices {
  /** An absolute path. */
  directory: string
  /** The npm package name. */
  name: string
  template: Template
  provider: ProviderName
}

/** Thrown when the user leaves a prompt with Ctrl-C or Escape. */
export class Cancelled extends Error {}

/**
 * Completes the command line: with prompts in a terminal, with the defaults otherwise.
 *
 * @throws UsageError if the directory is not empty, or no directory is given and the terminal cannot show prompts
 */
export async function choose(args: Arguments, options: { cwd: string; interactive: boolean }): Promise<Choices> {
  const { cwd, interactive } = options
  const mayAsk = interactive && !args.yes
  if (args.directory === undefined && !mayAsk)
    throw new UsageError('No directory given. Pass one: npm create allium@latest my-app')
  const directoryError = (input: string | undefined) => emptyDirectoryError(resolve(cwd, input || defaultName))
  const path =
    args.directory ??
    (await answer(
      prompts.text({
        message: 'Where?',
        placeholder: defaultName,
        defaultValue: defaultName,
        validate: directoryError,
      }),
    ))
  const error = directoryError(path)
  if (error !== undefined) throw new UsageError(error)
  const directory = resolve(cwd, path)

  const template = args.template ?? (mayAsk ? await askTemplate() : 'agent')
  const needsProvider = template !== 'pack'
  const provider = args.provider ?? (mayAsk && needsProvider ? await askProvider() : 'openai')
  return { directory, name: packageName(directory), template, provider }
}

const defaultName = 'my-agent'

function askTemplate(): Promise<Template> {
  const options = Object.entries(templates).map(([value, { title, hint }]) => ({
    value: value as Template,
    label: title,
    hint,
  }))
  return answer(prompts.select<Template>({ message: 'Which template?', options }))
}

function askProvider(): Promise<ProviderName> {
  const options = Object.entries(providers).map(([value, { title, key }]) => ({
    value: value as ProviderName,
    label: title,
    hint: process.env[key] ? `${key} is set` : key,
  }))
  return answer(prompts.select<ProviderName>({ message: 'Whose model? You can change it later.', options }))
}

async function answer<T>(prompt: Promise<T>): Promise<Exclude<T, symbol>> {
  const value = await prompt
  if (prompts.isCancel(value)) throw new Cancelled()
  return value as Exclude<T, symbol>
}

/** Returns a valid npm package name for a directory. */
function packageName(directory: string): string {
  const name = basename(directory)
    .toLowerCase()
    .replaceAll(/[^a-z0-9._-]+/g, '-')
    .replaceAll(/^[-._]+|[-._]+$/g, '')
  return name || defaultName
}
