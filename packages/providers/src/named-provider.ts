import type { AiSdkProvider, Import } from './ai-sdk-provider.ts'
import type { Env } from './api-keys.ts'
import { compatibleProvider, isCompatible } from './compatible.ts'
import { importInstalled, loadProvider } from './provider-package.ts'

/**
 * Loads a provider by its name, from its package or from the one for compatible servers.
 *
 * @throws AlliumError `provider.key_missing`, `provider.not_installed`, `provider.unsupported`
 */
export function namedProvider(name: string, env: Env, load: Import = importInstalled): Promise<AiSdkProvider> {
  return isCompatible(name) ? compatibleProvider(name, env, load) : loadProvider(name, env, load)
}
