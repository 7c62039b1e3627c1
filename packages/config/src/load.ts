import { createLoader } from './load-config.ts'

/**
 * Reads a config and returns its agent, which has not begun, so `.use()` still works. A path is trusted, because a file may contain
 * code. An object may only name packs, unless `trusted` is set. This function knows no packs and resolves no model names;
 * `allium/config` has one that does.
 *
 * @throws AlliumError `config.*`, with file, line and column
 * @example
 * const agent = await loadConfig('allium.config.yml', { model })
 */
export const loadConfig = createLoader()
