# http_server.pl FILE [cut=BYTES] [ranges=no]: serves FILE for every request, on a free port of this machine that it
# prints. It knows ranges, unless told not to, and breaks off after BYTES of an answer. Ends by itself after a minute.
use strict;
use warnings;
use IO::Socket::INET;

my ($file, %options) = (shift @ARGV, map { split /=/ } @ARGV);
open(my $in, '<:raw', $file) or die "$file: $!";
my $data = do { local $/; <$in> };

my $server = IO::Socket::INET->new(LocalAddr => '127.0.0.1', Listen => 5, Proto => 'tcp') or die $!;
$| = 1;
$SIG{PIPE} = 'IGNORE';  # a client may hang up
print $server->sockport, "\n";
alarm 60;

while (my $client = $server->accept) {
  my $from = 0;
  while (my $line = <$client>) {
    $from = $1 if $line =~ /^Range: bytes=(\d+)-/i;
    last if $line =~ /^\r?\n$/;
  }
  $from = 0 if ($options{ranges} // '') eq 'no';
  my $size = length $data;
  if ($from >= $size) {
    print $client "HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
  } else {
    my $status = $from ? '206 Partial Content' : '200 OK';
    my $range = $from ? "Content-Range: bytes $from-" . ($size - 1) . "/$size\r\n" : '';
    my $rest = substr $data, $from;
    print $client "HTTP/1.1 $status\r\n${range}Content-Length: " . length($rest) . "\r\nConnection: close\r\n\r\n";
    print $client substr($rest, 0, $options{cut} // length $rest);
  }
  close $client;
}
