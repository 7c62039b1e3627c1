import { AlliumError, isAlliumError, unknownName } from '@allium/core'
import type { AiSdkModel } from './ai-sdk-model.ts'
import { credentialsOf, type Env, knownProviders } from './api-keys.ts'

/** A provider of the AI SDK, such as `createOpenAI()` gives. */
export interface AiSdkProvider {
  languageModel(modelId: string): AiSdkModel
}

/** Imports a package by its name. */
export type Import = (name: string) => Promise<Record<string, unknown>>

export function isAiSdkProvider(value: unknown): value is AiSdkProvider {
  const isObject = (typeof value === 'object' && value !== null) || typeof value === 'function'
  return isObject && typeof (value as Partial<AiSdkProvider>).languageModel === 'function'
}

/**
 * The provider of `@ai-sdk/<provider>`, made with the key of the environment; or the package's own instance, if the
 * variable of its key is not known here.
 *
 * @throws AlliumError `provider.key_missing`, `provider.not_installed`, `provider.unsupported`
 */
export async function loadProvider(provider: string, env: Env, load: Import): Promise<AiSdkProvider> {
  const credentials = credentialsOf(provider, env)
  const name = `@ai-sdk/${provider}`
  const exported = await importPackage(name, load).catch((error) => {
    throw missingPackageError(provider, error)
  })
  const instantiated =
    credentials === undefined ? instance(provider, exported) : factory(provider, exported)?.(credentials)
  if (isAiSdkProvider(instantiated)) return instantiated
  throw new AlliumError(
    'provider.unsupported',
    `The package ${name} exports no provider. Give one to createResolver({ providers: { "${provider}": … } }).`,
  )
}

/** A package that is missing, of a provider that nobody knows, may be a slip: the one that may be meant is told. */
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

/** Imports from this package's place, then from the program's folder: strict package managers show a package only its own dependencies. */
export const importInstalled: Import = async (name) => {
  try {
    return await import(/* @vite-ignore */ /* webpackIgnore: true */ name)
  } catch (error) {
    const instantiated = isMissing(error, name) ? fromProgram(name) : undefined
    if (instantiated === undefined) throw error
    return import(/* @vite-ignore */ /* webpackIgnore: true */ instantiated)
  }
}

function fromProgram(name: string): string | undefined {
  try {
    // Not imported, so that the package bundles for elsewhere.
    const { createRequire } = process.getBuiltinModule('node:module')
    const { pathToFileURL } = process.getBuiltinModule('node:url')
    return pathToFileURL(createRequire(`${process.cwd()}/`).resolve(name)).href
  } catch {
    return undefined
  }
}

/** Whether this very package was not found, and not one that it imports. The message has the name in quotes everywhere. */
function isMissing(error: unknown, name: string): boolean {
  const { code, message } = error as { code?: unknown; message?: unknown }
  const missingCodes =
    code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND' || String(message).startsWith('Cannot find')
  return missingCodes && new RegExp(`['"]${name}['"]`).test(String(message))
}

/** `createOpenAI` for `openai`, `createGoogleGenerativeAI` for `google`. */
function factory(provider: string, exported: Record<string, unknown>): ((options: object) => unknown) | undefined {
  const prefix = `create${provider.replaceAll('-', '')}`
  const instantiated = Object.entries(exported).find(
    ([key, value]) => key.toLowerCase().startsWith(prefix) && typeof value === 'function',
  )
  return instantiated?.[1] as ((options: object) => unknown) | undefined
}

function instance(provider: string, exported: Record<string, unknown>): unknown {
  return isAiSdkProvider(exported[provider]) ? exported[provider] : Object.values(exported).find(isAiSdkProvider)
}
