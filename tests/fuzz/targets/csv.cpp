// Tables in text files. The first two bytes choose the options.
#include <gpunet/data/csv.hpp>

#include "fuzz.hpp"

namespace {

const fuzz::Register csv(
    {"csv",
     [](fuzz::Bytes bytes) {
       const unsigned choice = fuzz::take_choice(bytes, 6), more = fuzz::take_choice(bytes, 8);
       const std::string_view text = fuzz::text_of(bytes);
       const gpunet::data::CsvOptions options{
           .separator = ",;\t"[choice / 2],
           .header = choice % 2 == 0,
           .allow_nan = more % 2 == 1,
           .na_values = {"?", "-9"},
           .keep_default_na = more / 2 % 2 == 0,
           .decimal = more / 4 == 1 && choice / 2 > 0 ? ',' : '.',
           .comment = more / 4 == 1 ? '#' : '\0'};
       const auto table = gpunet::data::Table::parse({text.begin(), text.end()}, "t.csv", options);
       constexpr std::size_t most = 3;  // columns that are looked at
       bool any_numbers = false;
       std::string problem;
       for (std::size_t i = 0; i < std::min(most, table.columns().size()); ++i) {
         const std::string& column = table.columns()[i];
         if (table.rows() > 0)
           fuzz::ensure(table.at(table.rows() - 1, column).size() <= text.size(),
                        "a field longer than the text");
         try {
           const auto numbers = table.numbers<double>(column);
           fuzz::ensure(static_cast<gpunet::index_t>(numbers.size()) == table.rows(),
                        "a number is missing");
           table.numbers<float>(column);
           any_numbers = true;
         } catch (const gpunet::Error& error) {
           problem = error.what();
         }
         try {
           const auto classes = table.categories(column);
           for (const gpunet::label_t value : classes.values)
             fuzz::ensure(
                 (options.allow_nan && value == -1) ||
                     (0 <= value && static_cast<std::size_t>(value) < classes.names.size()),
                 "a class without a name");
           fuzz::ensure(table.categories(column, classes.names).values == classes.values,
                        "other classes by their names");
           any_numbers = true;
         } catch (const gpunet::Error& error) {
           problem = error.what();
         }
       }
       if (!any_numbers && !problem.empty()) throw gpunet::Error(problem);
     },
     [] {
       using namespace std::string_literals;
       return std::vector<std::string>{
           "\0\0length,width,kind\n5.1,3.5,a\n-4.9e0,+3,b\n"s,
           "\0\0\"a, b\",c\r\n\"one\r\ntwo\",\"say \"\"no\"\"\"\r\n\"\",x\r\n"s,
           "\1\0\xEF\xBB\xBF 1,1e-400\r-1e400,nan\r\r01,inf"s,
           "\2\0a;b\n1;2\n"s,
           "\5\0\t\n1\t2\n"s,
           "\2\5a;b;b;;\n#\n2,5;NA;?;;\n  \n-9,0;x;1.5;;\n"s,
           "\0\3sep=;\nx;x;x.1\n1;nan;\n"s,
       };
     }});

}  // namespace
