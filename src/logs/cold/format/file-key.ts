/**
 * Keys of the files in the bucket:
 * `v1/<workspace>/<project>/<first seq, 16 hexadecimal digits>-<part>-<first 16 digits of the SHA-256>`.
 */

const VERSION = "v1";
const SEQ_DIGITS = 16;
const HASH_DIGITS = 16;
const KEY = /^v1\/([^/]+)\/([^/]+)\/([0-9a-f]{16})-(\d{1,12})-([0-9a-f]{16})$/;

/** What the key of a segment's file tells. */
export interface FileName {
  workspaceId: string;
  projectId: string;
  firstSeq: number;
  part: number;
  /** First 16 hexadecimal digits of the SHA-256 of the file. */
  hash: string;
}

/**
 * Returns the key of a file. The hash keeps files of the same range apart that another version of the encoder wrote: the
 * offsets of a row are right for one of them only.
 * @param hash SHA-256 of the file, hexadecimal; its first 16 digits count
 */
export function fileKey({ workspaceId, projectId, firstSeq, part, hash }: FileName): string {
  const name = `${firstSeq.toString(16).padStart(SEQ_DIGITS, "0")}-${part}-${hash.slice(0, HASH_DIGITS)}`;
  return `${filePrefix(workspaceId, projectId)}${name}`;
}

/** @returns `null` if the key is of another kind of file */
export function readFileKey(key: string): FileName | null {
  const [, workspaceId = "", projectId = "", seq = "", part = "", hash = ""] = KEY.exec(key) ?? [];
  return workspaceId === ""
    ? null
    : { workspaceId, projectId, firstSeq: Number.parseInt(seq, 16), part: Number(part), hash };
}

/** Returns the common beginning of the keys of a workspace or of one of its projects. */
export function filePrefix(workspaceId: string, projectId?: string): string {
  return projectId === undefined ? `${VERSION}/${workspaceId}/` : `${VERSION}/${workspaceId}/${projectId}/`;
}
