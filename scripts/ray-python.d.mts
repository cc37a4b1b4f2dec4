export function rayPython(report?: (line: string) => void): string;
