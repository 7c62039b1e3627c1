import { AlliumError, isAlliumError } from '@allium/core'
import { unknownName } from '@allium/core/internal'
import { type AiSdkProvider, type Import, isAiSdkProvider } from './ai-sdk-provider.ts'
import { credentialsOf, type Env, knownProviders } from './api-keys.ts'

/**
 * Returns the provider of `@ai-sdk/<provider>`, created with its settings in the environment; or the package's own instance if there
 * are none.
 *
 * @throws AlliumError `provider.key_missing`, `provider.not_installed`, `provider.unsupported`
 */
export async function loadProvider(provider: string, env: Env, load: Import): Promise<AiSdkProvider> {
  const credentials = credentialsOf(provider, env)
  const name = `@ai-sdk/${provider}`
  const exported = await importPackage(name, load).catch((error) => {
    throw missingPackageError(provider, error)
  })
  const created = credentials === undefined ? instance(provider, exported) : factory(provider, exported)?.(credentials)
  if (isAiSdkProvider(created)) return created
  throw new AlliumError(
    'provider.unsupported',
    `The package ${name} exports no provider that takes ${Object.keys(credentials ?? {}).join(' and ') || 'its defaults'}. Pass one to createResolver({ providers: { "${provider}": … } }).`,
  )
}

/** A missing package of an unknown provider may be a typo, so the error suggests a similar name. */
function missingPackageError(provider: string, error: unknown): unknown {
  if (!isAlliumError(error, 'provider.not_installed') || knownProviders.includes(provider)) return error
  const { cause, details } = error
  const name = `@ai-sdk/${provider}`
  return new AlliumError(
    'provider.not_installed',
    `The provider "${provider}" is not known, and no package ${name} is installed. ${unknownName(provider, knownProviders)} If it has a package, run "npm install ${name}".`,
    { cause, details },
  )
}

/** @throws AlliumError `provider.not_installed` */
export async function importPackage(name: string, load: Import): Promise<Record<string, unknown>> {
  try {
    return await load(name)
  } catch (error) {
    if (!isMissing(error, name)) throw error
    throw new AlliumError(
      'provider.not_installed',
      `The package ${name} is not installed: run "npm install ${name}".`,
      { cause: error, details: { package: name } },
    )
  }
}

/**
 * Imports from this package, then from the program's directory, because strict package managers only let a package see its own
 * dependencies.
 */
export const importInstalled: Import = async (name) => {
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ name)
  } catch (error) {
    const program = isMissing(error, name) ? fromProgram(name) : undefined
    if (program === undefined) throw error
    return import(/* @vite-ignore */ /* webpackIgnore: true */ program)
  }
}

function fromProgram(name: string): string | undefined {
  try {
    // Loaded at run time, so that the package bundles for other runtimes.
    const { createRequire } = process.getBuiltinModule('node:module')
    const { pathToFileURL } = process.getBuiltinModule('node:url')
    return pathToFileURL(createRequire(`${process.cwd()}/`).resolve(name)).href
  } catch {
    return undefined
  }
}

/** Whether this package itself was not found, and not one that it imports. All runtimes quote the name in the message. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const isNotFound =
    code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || String(message).startsWith('Cannot find')
  return isNotFound && new RegExp(`['"]${name}['"]`).test(String(message))
}

/** Finds `createOpenAI` for `openai`, `createGoogleGenerativeAI` for `google`, `createVertex` for `google-vertex`. */
function factory(provider: string, exported: Record<string, unknown>): ((options: object) => unknown) | undefined {
  const name = new RegExp(`^create(${provider.replaceAll('-', '')}|${provider.split('-').at(-1)})`, 'i')
  const entry = Object.entries(exported).find(([key, value]) => name.test(key) && typeof value === 'function')
  return entry?.[1] as ((options: object) => unknown) | undefined
}

function instance(provider: string, exported: Record<string, unknown>): unknown {
  return isAiSdkProvider(exported[provider]) ? exported[provider] : Object.values(exported).find(isAiSdkProvider)
}
