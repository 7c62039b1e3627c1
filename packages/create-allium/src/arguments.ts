import { parseArgs } from 'node:util'
import { isProvider, type ProviderName, providers } from './providers.ts'
import { isTemplate, type Template, templates } from './templates.ts'

/** The choices of the command line. Prompts ask for the rest. */
export interface Arguments {
  directory: string | undefined
  template: Template | undefined
  provider: ProviderName | undefined
  /** Take the defaults instead of asking. */
  yes: boolean
  install: boolean
  git: boolean
  show: 'help' | 'version' | undefined
}

/** A mistake on the command line. */
export class UsageError extends Error {}

const choices = (names: object) => Object.keys(names).join('|')

export const help = `Creates an Allium project.

Usage:
  npm create allium@latest [directory] -- [options]

  --template <${choices(templates)}>
  --provider <${choices(providers)}>   whose model it uses; without the provider's key, a script answers
  --yes, -y       take the defaults instead of asking
  --no-install    do not install dependencies
  --no-git        do not create a git repository
  --help, --version
`

/** @throws UsageError for an option, template or provider that does not exist */
export function parseArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parse(argv)
  if (positionals.length > 1)
    throw new UsageError(`Too many directories: ${positionals.join(', ')}. Pass one directory.`)
  const { template, provider } = values
  if (template !== undefined && !isTemplate(template))
    throw new UsageError(`Unknown template "${template}". Choose one of: ${Object.keys(templates).join(', ')}.`)
  if (provider !== undefined && !isProvider(provider))
    throw new UsageError(`Unknown provider "${provider}". Choose one of: ${Object.keys(providers).join(', ')}.`)
  return {
    directory: positionals[0],
    template,
    provider,
    yes: values.yes === true,
    install: values['no-install'] !== true,
    git: values['no-git'] !== true,
    show: values.help === true ? 'help' : values.version === true ? 'version' : undefined,
  }
}

function parse(argv: readonly string[]) {
  const flag = { type: 'boolean' } as const
  try {
    return parseArgs({
      args: [...argv],
      allowPositionals: true,
      options: {
        template: { type: 'string', short: 't' },
        provider: { type: 'string', short: 'p' },
        yes: { ...flag, short: 'y' },
        'no-install': flag,
        'no-git': flag,
        help: { ...flag, short: 'h' },
        version: flag,
      },
    })
  } catch (error) {
    throw new UsageError((error as Error).message)
  }
}
