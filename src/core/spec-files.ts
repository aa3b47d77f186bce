/** Maximum number of files in a spec. */
export const MAX_FILES = 200;
/** Maximum number of bytes of all files in a spec. */
export const MAX_FILE_BYTES = 131_072;
