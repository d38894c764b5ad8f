export interface Room {
  readonly rooms: readonly string[];
  readonly types?: readonly string[];
  readonly packages: readonly string[];
}
export declare const IMPORT_TABLE: Readonly<Record<string, Room>>;
export declare const TYPES_ONLY: Readonly<Record<string, readonly string[]>>;
export declare const ALSO: Readonly<Record<string, readonly string[]>>;
