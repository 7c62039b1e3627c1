/**
 * - `replay`: answers from the file; no model is called
 * - `record`: calls the models, and replaces the file
 * - `missing`: answers from the file, and calls the models for requests that are not in it
 */
export type AnswersMode = (typeof modes)[number]
export const modes = ['replay', 'record', 'missing'] as const
