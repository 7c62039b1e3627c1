export { type DocumentInfo, type Documents, documents, type StoredDocumentInfo } from './documents.ts'
export type { DocumentOwner, DocumentsOptions, PutOptions } from './documents-options.ts'
export type { DocumentFormat } from './load-text.ts'
export type { PutResult } from './put-document.ts'
